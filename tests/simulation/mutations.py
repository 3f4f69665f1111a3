"""Small breaks of the core that the simulation must find: ``python tests/simulation/mutations.py [NAME ...]``.

Each is applied to a copy of the package, and the simulation is run on that, from a fixed seed, until it finds the
break. The core as it is must pass the same runs. The exit code is 1 where a break is not found, or does not apply any
more, and where the core breaks anything itself.
"""

from __future__ import annotations

import argparse
import enum
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

ROOT = Path(__file__).resolve().parents[2]
CONTROL = "htppower/control/"
MOST_SECONDS = 30.0


class Drawn(enum.Enum):
    """What may happen in the runs that are to find a break, and the options of ``run.py`` for that."""

    CALLS_FAIL = ("--no-interrupts", "--no-restarts")
    RESTARTS = ("--no-interrupts",)
    ALL = ()


@attrs.frozen
class Mutation:
    """A small break.

    Attributes:
        name: what is broken.
        file: in which file of ``htppower/control``.
        old: the text there, which stands there once.
        new: what takes its place.
        drawn: what may happen in the runs that are to find it.
        seed: the first of these runs.
    """

    name: str
    file: str
    old: str
    new: str
    drawn: Drawn = Drawn.CALLS_FAIL
    seed: int = 0


@attrs.frozen
class Found:
    """What a simulation came to.

    Attributes:
        rule: the rule that was broken, and how; None where nothing broke.
        runs: how many runs there were.
        elapsed_s: how long it took.
    """

    rule: str | None
    runs: int
    elapsed_s: float


MUTATIONS = (
    Mutation(
        "an alarm that has rung counts as armed",
        "gate.py",
        "self.alarm_us == deadline_us:\n                self.alarm, self.covered = None, False",
        "self.alarm_us == deadline_us:\n                pass",
    ),
    Mutation(
        "the end of INIT shortens a sustain that is pending",
        "gate.py",
        "self.deadline_us = max(self.deadline_us, now_us + self.after_init_us)",
        "self.deadline_us = now_us + self.after_init_us",
    ),
    Mutation(
        "the deadline is not renewed where an inference ends off the hot path",
        "gate.py",
        (
            "        if len(self.idle) + 1 >= self.made:\n"
            "            self.deadline_us = self.time.now_us + self.sustain_us\n"
        ),
        "",
    ),
    Mutation(
        "a token is made without the lock",
        "gate.py",
        "        with self.lock:\n            made = Token(self.idle)",
        "        if True:\n            made = Token(self.idle)",
    ),
    Mutation(
        "INIT and DE-INIT do not count as use",
        "gate.py",
        "return len(self.idle) < self.made or bool(self.preparing)",
        "return len(self.idle) < self.made",
    ),
    Mutation(
        "the token of an inference that does not begin is not taken back",
        "gate.py",
        "                token.waited = False\n                self.idle.append(token)",
        "                token.waited = False",
    ),
    Mutation(
        "no alarm is armed where the last inference ends",
        "gate.py",
        "            if self.sustain_us and self.arm():\n                return False",
        "            if self.sustain_us:\n                return False",
    ),
    Mutation(
        "whether the gate is open is looked at before the token is taken",
        "phases.py",
        (
            "        gate, token = self._phases.gate, None\n"
            "        try:\n"
            "            try:\n"
            "                token = gate.idle.pop()\n"
            "            except IndexError:\n"
            "                token = gate.token()\n"
            "            if self._token is not None:\n"
            "                gate.put_back(token)\n"
            '                raise PhaseMisuse("this inference is being '
            'run: call inference() for each")  # noqa: TRY301\n'
            "            self._token = token\n"
            "            if gate.open:\n"
            "                return\n"
        ),
        (
            "        gate, token = self._phases.gate, None\n"
            "        was_open = gate.open\n"
            "        try:\n"
            "            try:\n"
            "                token = gate.idle.pop()\n"
            "            except IndexError:\n"
            "                token = gate.token()\n"
            "            if self._token is not None:\n"
            "                gate.put_back(token)\n"
            '                raise PhaseMisuse("this inference is being '
            'run: call inference() for each")  # noqa: TRY301\n'
            "            self._token = token\n"
            "            if was_open:\n"
            "                return\n"
        ),
    ),
    Mutation(
        "the deadline is not renewed on the hot path",
        "phases.py",
        "                    gate.ended_ns = gate.time.now_ns()\n",
        "",
    ),
    Mutation(
        "an alarm that is gone counts as armed on the hot path",
        "gate.py",
        "self.alarm, self.covered = None, False",
        "self.alarm = None",
    ),
    Mutation(
        "an alarm that rings after the sustain of the next inference counts as in time",
        "gate.py",
        "self.covered = self.alarm_us <= self.time.now_us + self.sustain_us",
        "self.covered = True",
    ),
    Mutation(
        "an interrupted end of an inference is not looked at again",
        "phases.py",
        "            clear_frames(interrupt)\n            self._phases.look_again()\n",
        "            clear_frames(interrupt)\n",
        Drawn.ALL,
    ),
    Mutation(
        "a coroutine that ends its inference lowers nothing",
        "async_phases.py",
        "if phases.gate.end(token):",
        "if phases.gate.end(token) and error is not None:",
    ),
    Mutation(
        "a coroutine does not wait for its votes",
        "async_phases.py",
        "            await self._answer\n        except",
        "            pass\n        except",
    ),
    Mutation(
        "a coroutine that is cancelled while its votes are raised has nobody lower them",
        "async_phases.py",
        "                gate.put_back(taken)\n                self._phases.look_again()",
        "                gate.put_back(taken)",
    ),
    Mutation(
        "an alarm that rings at its deadline finds that it is not over: < as <=",
        "desired.py",
        "(now_us < use.deadline_us and",
        "(now_us <= use.deadline_us and",
    ),
    Mutation(
        "a session is settled without its turn",
        "reconciler.py",
        "        with session.turn:\n            error = settle(session, cause,",
        "        if True:\n            error = settle(session, cause,",
    ),
    Mutation(
        "the ids of a lost session are not doubted",
        "session_updates.py",
        "            session.doubted = frozenset(session.ledgers)\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a call that was interrupted counts as not made",
        "session_updates.py",
        "if session.casting or (lost",
        "if (lost",
        Drawn.ALL,
    ),
    Mutation(
        "a session that meets a restart is not settled again",
        "reconciler.py",
        "        while self._stepper.restarted(error):\n            self.after_turn()",
        "        while False:\n            self.after_turn()",
        Drawn.RESTARTS,
    ),
    Mutation(
        "no alarm is armed where a sustain is pending when a session is settled",
        "stepper.py",
        "if not use.busy and not gate.arm():",
        "if False:",
    ),
    Mutation(
        "a session whose call failed is not tried again",
        "stepper.py",
        "                self._recovery.failed(session, error)\n                return error",
        "                return error",
    ),
    Mutation(
        "a session that is closed is not marked as closing",
        "claims.py",
        "                session.gate.close()\n",
        "",
    ),
    Mutation(
        "the queue of lost sessions is not taken when a turn is given back",
        "reconciler.py",
        "        self._settle_queued()\n        self._events.deliver()",
        "        self._events.deliver()",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a session that opens while the DSP is out of reach is not tried again",
        "opener.py",
        "                self._recovery.failed(session, error)\n            return True",
        "            return True",
        Drawn.RESTARTS,
    ),
    Mutation(
        "what was asked for during a turn is not looked at when the turn is given back",
        "reconciler.py",
        "        self._settle_if_asked(session)\n        return error",
        "        self.after_turn()\n        return error",
    ),
    Mutation(
        "a session in use is not revised when its profile changes",
        "stepper.py",
        "                differs = self._executor.differs(session, plan.raised)\n",
        "                pass\n",
    ),
    Mutation(
        "the gate stays open when the votes come down",
        "stepper.py",
        "not gate.shut_if_idle(use.deadline_us):",
        "gate.use().busy:",
    ),
    Mutation(
        "the settings of the process are not doubted after a lost link",
        "recovery.py",
        "        self._registry.epoch += 1\n        self._settings.forget()\n",
        "        self._registry.epoch += 1\n",
        Drawn.RESTARTS,
    ),
    Mutation(
        "lost sessions do not join the queue",
        "recovery.py",
        "                self._queue.setdefault(session, cause)\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a DSP that was dead stays dead when it restarts",
        "recovery.py",
        "            self._retry.revived()\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "the back-off rings, and no session that lacks votes joins the queue",
        "recovery.py",
        (
            "            for session in self._by_urgency(self._lacking):\n"
            "                self._queue.setdefault(session, Cause.RETRIED)\n"
        ),
        "",
    ),
    Mutation(
        "ids that could not be destroyed do not keep the back-off going",
        "recovery.py",
        " or bool(self._registry.orphans)",
        "",
    ),
    Mutation(
        "a lost link begins no new epoch",
        "recovery.py",
        "        self._registry.epoch += 1\n        self._settings.forget()\n",
        "        self._settings.forget()\n",
        Drawn.RESTARTS,
    ),
    Mutation(
        "the first restart is left to the back-off",
        "recovery.py",
        "self._restarts > MOST_RESTARTS",
        "self._restarts >= 1",
        Drawn.RESTARTS,
    ),
    Mutation(
        "the queue is taken, and not emptied",
        "recovery.py",
        "            queued, self._queue = self._queue, {}\n            return queued",
        "            return dict(self._queue)",
        Drawn.RESTARTS,
    ),
    Mutation(
        "nothing that failed is tried again",
        "retry.py",
        "if self._alarm is None and not self._closed:",
        "if False:",
    ),
    Mutation(
        "a back-off that has rung counts as armed",
        "retry.py",
        "        self._alarm = None\n        self._delay_us = min(",
        "        self._delay_us = min(",
    ),
    Mutation(
        "the back-off grows without end",
        "retry.py",
        "self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)",
        "self._delay_us = 2 * self._delay_us",
    ),
    Mutation(
        "a dead DSP is called again at once",
        "retry.py",
        "            self._dead_until_us = self._time.now_us + self._delay_us\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a dead DSP is left alone at the very time of the retry: < as <=",
        "retry.py",
        "and self._time.now_us < self._dead_until_us",
        "and self._time.now_us <= self._dead_until_us",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a session that is closed does not give back the settings of the process",
        "executor.py",
        "            failed = self.cast_settings(session if is_known else None)\n",
        "            failed = None\n",
    ),
    Mutation(
        "of several cores only the first is voted on after a failure",
        "executor.py",
        "                first = first or without_frames(error)\n",
        "                first = first or without_frames(error)\n                break\n",
    ),
    Mutation(
        "a session does not wait for the settings that another is casting",
        "executor.py",
        "first = self.cast_settings(session, wait=in_time)",
        "first = self.cast_settings(session)",
    ),
    Mutation(
        "an id that could not be destroyed is forgotten",
        "power_config_ids.py",
        "            if not gone:\n                self._registry.orphans[power_config_id] = None",
        "            pass",
    ),
    Mutation(
        "whether a session asks for its settings is not looked at",
        "executor.py",
        "            or not self._settings.asks_for(session.number, votes)\n",
        "",
    ),
    Mutation(
        "a cast goes on with the next core when the link is lost",
        "executor.py",
        "                if error.code in LINK_LOST:\n                    raise\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "an id is given up before it is noted as one to destroy",
        "power_config_ids.py",
        "            registry.orphans[power_config_id] = None\n            session.give_up_id(core_id)",
        "            session.give_up_id(core_id)",
    ),
    Mutation(
        "an id that is refused is not replaced",
        "executor.py",
        (
            "        failed = self._ids.give_up(session, core_id, None)\n"
            "        if failed is not None and failed.code in LINK_LOST:\n"
            "            raise without_frames(failed)\n"
            "        self._ids.create(session, core_id)"
        ),
        "        pass",
        Drawn.RESTARTS,
    ),
    Mutation(
        "the settings of the process are cast without their turn",
        "executor.py",
        "        run_if_free(self._settings.turn, send)",
        "        send()",
    ),
    Mutation(
        "settings that were doubted during the call that sent them count as sent",
        "process_settings.py",
        "if self._ledger.now is since:",
        "if True:",
        Drawn.RESTARTS,
        seed=2_001_250,
    ),
    Mutation(
        "a wish is not taken out where none takes its place",
        "process_settings.py",
        "                    if other is not wish:\n",
        "                    if other is not wish and wish:\n",
    ),
    Mutation(
        "a wish that changes does not change what is wanted",
        "process_settings.py",
        "                self._found = None\n",
        "                pass\n",
    ),
    Mutation(
        "wishes change without the lock",
        "process_settings.py",
        "        asks = bool(wish)\n        with self._lock:",
        "        asks = bool(wish)\n        if True:",
        seed=900,
    ),
    Mutation(
        "what a call carries that fails stays known",
        "ledger.py",
        "        known.pop(option, None)\n",
        "",
    ),
    Mutation(
        "a lost session knows still what was in force",
        "ledger.py",
        "self.now = InForce(NOTHING, doubtful, now.accepted)",
        "self.now = now",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a vote that is in doubt counts as in force",
        "ledger.py",
        "is_there = earlier is not None and earlier[1] and",
        "is_there = earlier is not None and",
    ),
    Mutation(
        "what a profile leaves unset is not taken back",
        "ledger.py",
        "        if complete is None and (earlier is None or option in superseded):\n            continue\n",
        "        if complete is None:\n            continue\n",
    ),
    Mutation(
        "a cast that is interrupted leaves the state as it was",
        "session_transitions.py",
        "        session.casting = True\n",
        "",
        Drawn.ALL,
    ),
    Mutation(
        "the state changes before the call is made",
        "session_transitions.py",
        "        outcome = self._executor.run(session, step)\n",
        "        session.state = dest\n        outcome = self._executor.run(session, step)\n",
    ),
    Mutation(
        "a cast that was made counts as under way",
        "session_transitions.py",
        "            session.error = None\n            session.casting = False\n",
        "            session.error = None\n",
    ),
    Mutation(
        "a hold with a timeout gets no alarm",
        "claims.py",
        "                self._alarms[claim.number] = self._time.call_at(claim.until_us, end)",
        "                pass",
    ),
    Mutation(
        "a hold that ends changes no profile",
        "claims.py",
        "error = self._reconciler.follow(session, Cause.HOLD_ENDED, claim.reason)",
        "error = None",
    ),
    Mutation(
        "a cap that is lifted changes no profile",
        "claims.py",
        "            self._all_follow(Cause.CAP_LIFTED, claim.reason)\n",
        "",
    ),
    Mutation(
        "a cap that is set changes no profile",
        "claims.py",
        "        self._all_follow(Cause.CAP_SET, claim.reason)\n",
        "",
    ),
    Mutation(
        "the profile is followed before it is noted",
        "claims.py",
        (
            "            session.own = loaded\n"
            "            error = self._reconciler.follow(session, Cause.PROFILE_CHANGED, None)\n"
        ),
        (
            "            error = self._reconciler.follow(session, Cause.PROFILE_CHANGED, None)\n"
            "            session.own = loaded\n"
        ),
    ),
    Mutation(
        "all holds end with one",
        "claims.py",
        "session.holds = tuple(other for other in session.holds if other is not claim)",
        "session.holds = ()",
    ),
    Mutation(
        "what is run side by side is not waited for",
        "side_by_side.py",
        "        each.done.wait(None if end_s is None else max(0.0, end_s - clock.monotonic()))\n",
        "",
    ),
)


def caught(
    mutation: Mutation | None,
    drawn: Drawn = Drawn.CALLS_FAIL,
    *,
    seed: int = 0,
    seconds: float = MOST_SECONDS,
    most_runs: int | None = None,
) -> Found:
    """Run the simulation on a copy, until it finds something.

    Args:
        mutation: what to break in the copy, which says what is drawn, too; None for nothing.
        drawn: what may happen in the runs where nothing is broken.
        seed: the first of them.
        seconds: how long it may take.
        most_runs: how many runs it may take; as many as there is time for, unless told.

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
        limits = ["--seconds", f"{seconds}", *([] if most_runs is None else ["--runs", f"{most_runs}"])]
        begun_s = time.monotonic()
        done = subprocess.run(
            [sys.executable, "tests/simulation/run.py", "--first", "--seed", f"{seed}", *drawn.value, *limits],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 120,
        )
        elapsed_s = time.monotonic() - begun_s
    runs = re.search(r"^([\d,]+) runs", done.stdout, re.MULTILINE)
    rule = re.search(r"^BROKEN seed \d+: (.*)", done.stdout, re.MULTILINE)
    if runs is None or (rule is None) != (done.returncode == 0):
        raise LookupError(f"the simulation ended with {done.returncode}: {done.stderr[-1000:]}")
    return Found(None if rule is None else rule[1], int(runs[1].replace(",", "")), elapsed_s)


def _try(mutation: Mutation, seconds: float) -> Found | LookupError:
    try:
        return caught(mutation, seconds=seconds)
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
    parser.add_argument("names", nargs="*", help="parts of the names of the mutations to run; all unless told")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="how long a run may take; 30 unless told")
    parser.add_argument("--jobs", type=int, default=1, help="how many to run side by side; 1 unless told")
    given = parser.parse_args()
    chosen = [each for each in MUTATIONS if not given.names or any(name in each.name for name in given.names)]
    begun_s = time.monotonic()
    missed = 0
    # How many runs the core as it is must pass, by what is drawn and the first seed.
    needed: dict[tuple[Drawn, int], int] = {}
    with ThreadPoolExecutor(given.jobs) as threads:
        print(f"{'broken':<76} {'file':<22} {'runs':>5} {'time':>8}  found by")
        everything = threads.map(partial(_try, seconds=given.seconds), chosen)
        for mutation, found in zip(chosen, everything, strict=True):
            _row(mutation.name, mutation.file, found, "MISSED")
            if isinstance(found, LookupError) or found.rule is None:
                missed += 1
            else:
                key = mutation.drawn, mutation.seed
                needed[key] = max(found.runs, needed.get(key, 0))
        for (drawn, seed), runs in needed.items():
            as_it_is = caught(None, drawn, seed=seed, seconds=4 * given.seconds, most_runs=runs)
            missed += as_it_is.rule is not None
            _row(f"nothing: {drawn.name}, from seed {seed} on", "", as_it_is, "nothing, as it must be")
    print(f"{len(chosen)} mutations, {missed} wrong, {time.monotonic() - begun_s:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
