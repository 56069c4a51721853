"""Jobs, one JSON object a line on stdin -> exit statuses, one a line on stdout: Python programs in forked processes.

TensorFlow takes seconds to import, so this process imports it once, runs nothing with it, and forks itself for each
program. What a program prints goes to the files that its job names. A job has `argv` (as after `python`: a script
or `-m module`, then arguments), `env`, `cwd`, `stdout` and `stderr`.
"""

import json
import os
import runpy
import sys
from typing import Any


def run(job: dict[str, Any]) -> None:
    """Become the program of `job`: called in the forked process, which ends when this returns."""
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    for number, name in ((1, "stdout"), (2, "stderr")):
        target = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(target, number)
    first, *arguments = job["argv"]
    if first == "-m":
        sys.path[0] = job["cwd"]
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(first))
        sys.argv = [first, *arguments]
        runpy.run_path(first, run_name="__main__")


def main() -> None:
    import keras  # noqa: F401
    import tensorflow  # noqa: F401

    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            os.close(0)
            run(json.loads(line))
            return
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
