"""Commands as new processes, one after the other in turn, by the program `cold`."""
import os
import subprocess
import sys


class Cost:
    def __init__(self, wall, cpu, resident):
        self.wall = float(wall)
        self.cpu = float(cpu)
        self.resident = int(resident) / 1024


def cold(build, rounds, *commands, **how):
    """The cost of each command: wall and CPU in ms (medians), resident MB (the most). `how` goes to
    subprocess.run; `become` stands before the program."""
    words = [os.path.join(build, "bench/cold"), str(rounds)]
    for number, command in enumerate(commands):
        words += (["::"] if number else []) + list(command)
    result = subprocess.run(how.pop("become", []) + words, stdout=subprocess.PIPE, **how)
    if result.returncode != 0:
        sys.exit("bench: a command failed; nothing can be said about it")
    return [Cost(*line.split()) for line in result.stdout.decode().splitlines()]
