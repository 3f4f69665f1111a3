"""Small breaks of the core that the simulation must find: ``python tests/simulation/mutations.py [NAME ...]``.

Each is applied to a copy of the package, and the simulation is run on that, from a fixed seed. The core as it is must
pass the same run. The exit code is 1 where a break is not found, or does not apply any more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parents[2]
CONTROL = "htppower/control/"
# What the core is known to break; the runs leave these out, so that what is found is the mutation.
KNOWN = (
    "nothing keeps alive what the host has dropped",
    "each core is tried, though an id could not be created for another",
)
WITHOUT = ("--no-interrupts", "--no-restarts")


@attrs.frozen
class Mutation:
    """A small break.

    Attributes:
        name: what is broken.
        file: in which file of ``htppower/control``.
        old: the text there, which stands there once.
        new: what takes its place.
    """

    name: str
    file: str
    old: str
    new: str


MUTATIONS = (
    Mutation(
        "the hot path's count is raised without the lock",
        "phases.py",
        "        with gate.lock:\n            if gate.ready:",
        "        if True:\n            if gate.ready:",
    ),
    Mutation(
        "the hot path's count is taken back without the lock",
        "phases.py",
        "        with gate.lock:\n            gate.in_flight -= 1",
        "        if True:\n            gate.in_flight -= 1",
    ),
    Mutation(
        "an inference that begins is not counted before it settles",
        "phases.py",
        "                    gate.in_flight += 1\n                counted = 1",
        "                    pass\n                counted = 1",
    ),
    Mutation(
        "a sustain time that is over to the microsecond is not over",
        "gate.py",
        "if self.time.now_us < self.deadline_us and state is not State.LOWERED",
        "if self.time.now_us <= self.deadline_us and state is not State.LOWERED",
    ),
    Mutation(
        "an alarm that is armed too late is not armed anew",
        "gate.py",
        "        if self.closing or self.alarm_us <= deadline_us:",
        "        if self.closing or self.alarm is not None:",
    ),
    Mutation(
        "an alarm that has rung counts as armed",
        "gate.py",
        "            if self.alarm_us == deadline_us:\n                self.alarm, self.alarm_us = None, _NEVER_US",
        "            pass",
    ),
    Mutation(
        "the gate stays open when the votes come down",
        "gate.py",
        "            self.ready = False\n            return State.LOWERED",
        "            return State.LOWERED",
    ),
    Mutation(
        "another profile does not end the sustain",
        "reconciler.py",
        "            session.gate.end_sustain()\n",
        "",
    ),
    Mutation(
        "sessions settle without the lock",
        "reconciler.py",
        "        with self.lock:\n            if self._is_gone(session, cause, quiet=quiet):",
        "        if True:\n            if self._is_gone(session, cause, quiet=quiet):",
    ),
    Mutation(
        "a session in use is not revised when its profile changes",
        "reconciler.py",
        "if not gate.ready and self._executor.differs(session, plan.raised):",
        "if False:",
    ),
    Mutation(
        "a session that is closed does not give back the settings of the process",
        "executor.py",
        "            error = self.settle_process(session, None if session.ids_doubted else ids[0])",
        "            error = None",
    ),
    Mutation(
        "of several cores only the first is voted on after a failure",
        "executor.py",
        "                if error.code in LINK_LOST:\n                    break\n        if first",
        "                break\n        if first",
    ),
    Mutation(
        "what a call carries that fails stays known",
        "ledger.py",
        "                entries[option] = entry = _Entry(value, known=False)",
        "                entries[option] = entry = _Entry(value, known=True)",
    ),
    Mutation(
        "a hold that ends changes no profile",
        "claims.py",
        "            error = self._choose(session, Cause.HOLD_ENDED, claim.reason)",
        "            error = None",
    ),
    Mutation(
        "a cap that is lifted changes no profile",
        "claims.py",
        "            self._choose_for_all(Cause.CAP_LIFTED, claim.reason)",
        "            pass",
    ),
    Mutation(
        "nothing that failed is tried again",
        "retry.py",
        "if self._alarm is None and not self._closed:",
        "if False:",
    ),
    Mutation(
        "an order is left out",
        "event_bus.py",
        "        self._order += 1\n",
        "        self._order += 1 + (self._order == 20)\n",
    ),
)


def caught(mutation: Mutation | None, seconds: float) -> str | None:
    """Return which rule a run on a copy breaks, None where it breaks none.

    Args:
        mutation: what to break in it.
        seconds: how long the run may take.

    Raises:
        LookupError: the text is not there, or not once.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("htppower", "profiles", "tests/simulation"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        if mutation is not None:
            path = copy / CONTROL / mutation.file
            text = path.read_text(encoding="utf-8")
            if text.count(mutation.old) != 1:
                raise LookupError(f"{mutation.file} has this {text.count(mutation.old)} times: {mutation.old!r}")
            path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
        known = [argument for rule in KNOWN for argument in ("--known", rule)]
        command = [sys.executable, "tests/simulation/run.py", "--seed", "0", "--seconds", f"{seconds}", "--first"]
        done = subprocess.run(
            [*command, *WITHOUT, *known],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 120,
        )
        if done.returncode == 0:
            return None
        broken = [line for line in done.stdout.splitlines() if line.startswith("BROKEN")]
        if not broken:
            raise LookupError(f"the run ended with {done.returncode}: {done.stderr[-1000:]}")
        return broken[0]


def main() -> int:
    """Run every mutation, and the core as it is; return the exit code."""
    parser = argparse.ArgumentParser(description="Show that the simulation finds small breaks of the core.")
    parser.add_argument("names", nargs="*", help="parts of the names of the mutations to run; all unless told")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long a run may take; 30 unless told")
    given = parser.parse_args()
    chosen = [each for each in MUTATIONS if not given.names or any(name in each.name for name in given.names)]
    begun_s = time.monotonic()
    wrong = caught(None, given.seconds)
    print(f"{'the core as it is':<72} {wrong or 'breaks nothing'}", flush=True)
    missed = int(wrong is not None)
    for mutation in chosen:
        try:
            found = caught(mutation, given.seconds)
        except LookupError as error:
            found, missed = f"DOES NOT APPLY: {error}", missed + 1
        else:
            missed += found is None
        print(f"{mutation.name:<72} {(found or 'MISSED')[:160]}", flush=True)
    print(f"{len(chosen)} mutations, {missed} wrong, {time.monotonic() - begun_s:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
