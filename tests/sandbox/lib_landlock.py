"""What the tests share that are about Landlock: its system calls, and policies for the engine that has nothing else."""

CREATE_RULESET, RESTRICT_SELF = 444, 446
ALWAYS = ("fs.closed", "fs.write", "process.tree")
ENGINE = ("--engine", "landlock")


def accepting(*controls):
    return "".join(f'accept {name} on landlock because "tested: {name}"\n' for name in (*ALWAYS, *controls))


def control(lease, name):
    for entry in lease["enforcedControls"]:
        if entry["control"] == name:
            return entry
    raise AssertionError(f"{name} is not in {lease['enforcedControls']}")
