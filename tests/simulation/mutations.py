"""Small breaks of the core that the simulation must find: ``python tests/simulation/mutations.py [NAME ...]``.

Each is applied to a copy of the package, and the simulation is run on that, from a fixed seed, until it finds the
break. The list is in ``breaks``. The core as it is must pass the same runs. The exit code is 1 where a break is not
found, or does not apply any more, and where the core breaks anything itself.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import attrs

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from simulation.breaks import MUTATIONS
from simulation.breaks.mutation import Drawn, Mutation

ROOT = Path(__file__).resolve().parents[2]
CONTROL = "htppower/control/"
# Each is found in far fewer runs from its seed on. A change of the core moves what a seed draws, and the rarest breaks
# show in one of 600 runs; by runs, since the time that they take depends on the machine.
MOST_RUNS = 3_000
# More, and the simulation hangs.
MOST_SECONDS = 900.0


@attrs.frozen
class Found:
    """What a simulation came to.

    Attributes:
        rule: the rule that was broken, and how; None where nothing broke.
        runs: how many runs there were, or orders.
        elapsed_s: how long it took.
    """

    rule: str | None
    runs: int
    elapsed_s: float


def caught(
    mutation: Mutation | None,
    drawn: Drawn = Drawn.CALLS_FAIL,
    *,
    seed: int = 0,
    most_runs: int = MOST_RUNS,
) -> Found:
    """Run the simulation on a copy, until it finds something.

    Args:
        mutation: what to break in the copy, which says what is drawn, too; None for nothing.
        drawn: what may happen in the runs where nothing is broken.
        seed: the first of them.
        most_runs: how many runs it may take.

    Raises:
        LookupError: the text is not there, or not once, or the simulation could not be run.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("htppower", "profiles", "tests/simulation"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        if mutation is not None:
            drawn, seed = mutation.drawn, mutation.seed
            path = copy / CONTROL / mutation.file
            text = path.read_text(encoding="utf-8")
            if text.count(mutation.old) != 1:
                raise LookupError(f"{mutation.file} has this {text.count(mutation.old)} times: {mutation.old!r}")
            path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
        command = [sys.executable, "tests/simulation/run.py", "--first", *drawn.value]
        if "--exhaustive" not in drawn.value:
            command += ["--seed", f"{seed}", "--runs", f"{most_runs}"]
        begun_s = time.monotonic()
        done = subprocess.run(
            command,
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
        elapsed_s = time.monotonic() - begun_s
    runs = re.search(r"([\d,]+) (?:runs|orders),", done.stdout)
    rule = re.search(r"^BROKEN (?:seed \d+: )?(.*)", done.stdout, re.MULTILINE)
    if runs is None or (rule is None) != (done.returncode == 0):
        raise LookupError(f"the simulation ended with {done.returncode}: {done.stderr[-1000:]}")
    return Found(None if rule is None else rule[1], int(runs[1].replace(",", "")), elapsed_s)


def _try(mutation: Mutation, most_runs: int) -> Found | LookupError:
    try:
        return caught(mutation, most_runs=most_runs)
    except LookupError as error:
        return error
    except subprocess.TimeoutExpired:
        return LookupError("the simulation hangs")


def _row(name: str, file: str, found: Found | LookupError, nothing: str) -> None:
    if isinstance(found, LookupError):
        print(f"{name:<76} {file:<22} NOT TRIED: {found}", flush=True)
    else:
        rule = nothing if found.rule is None else found.rule[:80]
        print(f"{name:<76} {file:<22} {found.runs:>5} {found.elapsed_s:>6.1f} s  {rule}", flush=True)


def main() -> int:
    """Run every mutation, and the core as it is; return the exit code."""
    parser = argparse.ArgumentParser(description="Show that the simulation finds small breaks of the core.")
    parser.add_argument(
        "names", nargs="*", help="parts of the names of the mutations to run; all but the rare ones unless told"
    )
    parser.add_argument("--runs", type=int, default=MOST_RUNS, help=f"how many for each; {MOST_RUNS} unless told")
    parser.add_argument("--jobs", type=int, default=1, help="how many to run side by side; 1 unless told")
    given = parser.parse_args()
    chosen = [
        each for each in MUTATIONS if (any(name in each.name for name in given.names) if given.names else not each.rare)
    ]
    if not chosen:
        parser.error(f"no mutation has {' or '.join(map(repr, given.names))} in its name")
    begun_s = time.monotonic()
    wrong: list[str] = []
    # How many runs the core as it is must pass, by what is drawn and the first seed.
    needed: dict[tuple[Drawn, int], int] = {}
    with ThreadPoolExecutor(given.jobs) as threads:
        print(f"{'broken':<76} {'file':<22} {'runs':>5} {'time':>8}  found by")
        everything = threads.map(partial(_try, most_runs=given.runs), chosen)
        for mutation, found in zip(chosen, everything, strict=True):
            _row(mutation.name, mutation.file, found, "MISSED")
            if isinstance(found, LookupError) or found.rule is None:
                wrong.append(mutation.name)
            else:
                key = mutation.drawn, mutation.seed
                needed[key] = max(found.runs, needed.get(key, 0))
        for (drawn, seed), runs in needed.items():
            as_it_is = caught(None, drawn, seed=seed, most_runs=runs)
            nothing = f"nothing: {drawn.name}, from seed {seed} on"
            if as_it_is.rule is not None:
                wrong.append(nothing)
            _row(nothing, "", as_it_is, "nothing, as it must be")
    print(f"{len(chosen)} mutations, {len(wrong)} wrong, {time.monotonic() - begun_s:.0f} s")
    for name in wrong:
        print(f"wrong: {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
