"""Archives, copies, databases, shells and terminals under `use std/dev` and `grant write $WORK`."""
import os
import subprocess

from lib import check, equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/dev\ngrant write $WORK\n'


def dev(w, script, **more):
    return w.shell(w.compile(POLICY), "set -e\n" + script, **more).succeeded()


@test
def tar_packs_and_unpacks_with_times_modes_and_links():
    with world("/var/tmp") as w:
        result = dev(w, """
            mkdir -p d/e; echo text > d/e/f; chmod 750 d/e; chmod 640 d/e/f; touch -d @1000000000 d/e/f
            ln -s e/f d/link; ln d/e/f d/hard; tar czf d.tar.gz d; tar cJf d.tar.xz d; rm -r d; tar xzf d.tar.gz
            stat -c '%a %Y %h' d/e/f; readlink d/link; cat d/hard; tar tf d.tar.xz | wc -l""")
        equal(result.out, "640 1000000000 2\ne/f\ntext\n5\n")


@test
def rsync_copies_and_deletes():
    with world("/var/tmp") as w:
        result = dev(w, """
            mkdir -p from/sub; echo one > from/a; echo two > from/sub/b; ln -s a from/link
            rsync -a --delete from/ to/; echo stale > to/stale; echo more >> from/a; rm from/sub/b
            rsync -a --delete --itemize-changes from/ to/ | grep -c '^[*>]'; diff -r from to
            rsync -aH --checksum from/ to/""")
        equal(result.out, "3\n")


@test
def sqlite_keeps_a_database():
    with world("/var/tmp") as w:
        result = dev(w, """
            sqlite3 data.db 'pragma journal_mode=wal; create table t (n); insert into t values (20), (22);' >/dev/null
            sqlite3 data.db 'select sum(n) from t'; sqlite3 data.db .dump | sqlite3 copy.db
            (for n in 1 2 3 4; do sqlite3 -cmd '.timeout 9000' data.db "insert into t values ($n)" & done; wait)
            sqlite3 copy.db 'vacuum; select count(*) from t'; sqlite3 data.db 'select count(*) from t'""")
        equal(result.out, "42\n2\n6\n")


@test
def pipelines_substitutions_and_here_documents_work():
    with world("/var/tmp") as w:
        result = w.launch(w.compile(POLICY), "bash", "-euo", "pipefail", "-c", r"""
            seq 1000 | sort -R | sort -n | awk '{ s += $1 } END { print s }' | tee sum | xargs echo sum:
            comm -3 <(printf 'a\nb\n') <(printf 'a\nc\n') | wc -l
            mkfifo pipe; (echo through > pipe &) ; cat pipe; rm pipe
            cat <<< here; exec 3<> sum; read -r first <&3; echo "$first"; coproc cat; echo word >&"${COPROC[1]}"
            read -r word <&"${COPROC[0]}"; echo "$word"; { yes || true; } | head -1
            find . -type f -print0 | xargs -0 wc -c | tail -1
            (trap 'echo trapped; exit 0' TERM; kill -TERM $BASHPID; sleep 9); timeout 1 sleep 9 || echo $?""")
        out = "sum: 500500\n2\nthrough\nhere\n500500\nword\ny\n7 ./sum\ntrapped\n124\n"
        equal(result.succeeded().out, out)


@test
def job_control_without_a_terminal_is_as_outside():
    script = """
        sleep 30 & first=$!; kill -STOP $first; kill -CONT $first; jobs -p | grep -cx $first; kill %1; wait %1; echo $?
        (exit 3) & wait $!; echo $?; sleep 0.1 | cat; fg 2>&1 | tail -1; setsid -w sh -c 'echo session'"""
    command = ["bash", "-m", "-c", script]
    with world("/var/tmp") as w:
        outside = subprocess.run(command, env=w.environment(), cwd=w.work, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, start_new_session=True)
        result = w.launch(w.compile(POLICY), *command, start_new_session=True)
        equal((result.code, result.out, result.err), (outside.returncode, outside.stdout, outside.stderr))
        check(result.out.startswith("1\n143\n3\n"), result.out)


@test
def tmux_starts_a_server_and_runs_a_command_in_it():
    with world("/var/tmp") as w:
        result = dev(w, """
            tmux new -d -s work 'echo $TERM > term; tty > terminal; sleep 30'
            tmux list-sessions -F '#{session_name}'
            for i in $(seq 100); do test -s terminal && break; sleep 0.1; done
            tmux split-window -d -t work 'stty size > size'; tmux kill-server
            cut -d/ -f1-3 terminal""", env=w.environment(TERM="xterm"))
        equal(result.out, "work\n/dev/pts\n")
        equal(sorted(os.listdir(w.work))[-2:], ["term", "terminal"])


@test
def script_and_expect_like_programs_get_a_terminal():
    with world("/var/tmp") as w:
        result = dev(w, "script -qec 'tty; test -t 1 && echo terminal' /dev/null", env=w.environment(TERM="xterm"))
        equal(result.out.split(), ["/dev/pts/0", "terminal"])


main()
