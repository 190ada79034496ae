"""The caller's limits, however narrow, end no launcher in silence, and the command gets them as they were."""
import os
import resource

from lib import check, equal, main, test, world

ENGINES = ("native", "landlock")
ALONE = "".join(f'accept {name} on landlock because "tested"\n' for name in ("fs.closed", "fs.write", "process.tree"))


def limited(kind, *limit):
    return lambda: resource.setrlimit(kind, limit)


@test
def the_command_gets_the_caller_s_umask():
    with world() as w:
        for engine in ENGINES:
            for mask in (0o000, 0o022, 0o077, 0o777):
                result = w.shell(ALONE + "deny $WORK/missing\n" if engine == "native" else ALONE, "umask",
                                 options=("--engine", engine), preexec_fn=lambda: os.umask(mask))
                equal(int(result.succeeded().out, 8), mask, f"{engine}: umask")
        check(not os.path.exists(f"{w.work}/missing"), "a placeholder is left")


@test
def a_small_stack_is_enough_or_refused():
    script = "ulimit -S -s; ulimit -H -s"
    with world() as w:
        for engine in ENGINES:
            options = ("--engine", engine)
            for soft, hard in ((64, 16384), (512, 512), (256, 256)):
                narrow = limited(resource.RLIMIT_STACK, soft << 10, hard << 10)
                result = w.shell(ALONE, script, options=options, preexec_fn=narrow)
                equal(result.succeeded().out, f"{soft}\n{hard}\n", engine)
            narrow = limited(resource.RLIMIT_STACK, 128 << 10, 128 << 10)
            result = w.launch(ALONE, "touch", "made", options=options, preexec_fn=narrow)
            result.exited(125)
            check("ulimit -s" in result.err and not os.path.exists(f"{w.work}/made"), result.err)


@test
def a_limit_of_file_sizes_is_enough_or_refused():
    with world() as w:
        for engine in ENGINES:
            options = ("--engine", engine)
            result = w.shell(ALONE, "ulimit -f", options=options, preexec_fn=limited(resource.RLIMIT_FSIZE, 1 << 19, 1 << 19))
            equal(result.succeeded().out, f"{(1 << 19) // 512}\n", engine)
            result = w.launch(ALONE, "true", options=options, preexec_fn=limited(resource.RLIMIT_FSIZE, 0, 0))
            result.refused("File too large", "ulimit -f")


main()
