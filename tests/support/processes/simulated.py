"""Run several command lines of ``tests/simulation/run.py`` in one process, since its start takes longer than a run.

Arguments: the command lines, each as one text. It prints JSON: the exit code and the output of each.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import shlex
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2]


def main(lines: list[str]) -> list[tuple[int, str]]:
    """Return the exit code and the output of each command line."""
    sys.path[:1] = [str(TESTS.parent), str(TESTS)]
    run: Any = importlib.import_module("simulation.run")
    # What happens once in a process has happened.
    run.warm_up = functools.cache(run.warm_up)
    done = []
    for line in lines:
        sys.argv = ["run.py", *shlex.split(line)]
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
            try:
                code = run.main()
            except SystemExit as ended:
                code = int(ended.code or 0)
        done.append((code, output.getvalue()))
    return done


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))  # noqa: T201 - what it prints is read
