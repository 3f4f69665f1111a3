"""Breaks of casting: the calls of a step, ids, what is known to be in force, settings of the process."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

CASTING = (
    Mutation(
        "a session that is closed does not give back the settings of the process",
        "core/executor.py",
        "            failed = self.cast_settings(session, known)\n",
        "            failed = None\n",
    ),
    Mutation(
        "of several cores only the first is voted on after a failure",
        "core/executor.py",
        "                first = first or without_frames(error)\n",
        "                first = first or without_frames(error)\n                break\n",
    ),
    Mutation(
        "a session does not wait for the settings that another is casting",
        "core/executor.py",
        "first = self.cast_settings(session, tuple(session.ledgers), wait=in_time)",
        "first = self.cast_settings(session, tuple(session.ledgers))",
    ),
    Mutation(
        "an id that could not be destroyed is forgotten",
        "core/power_config_ids.py",
        "                self._registry.orphans[ledger] = None\n        if failed",
        "                pass\n        if failed",
    ),
    Mutation(
        "whether a session asks for its settings is not looked at",
        "core/executor.py",
        "            or not self._settings.asks_for(session.number, votes)\n",
        "",
        seed=100,
    ),
    Mutation(
        "an id is given up before the call that destroys it",
        "core/power_config_ids.py",
        ("        failed = self._destroy(told_of, ledger)\n        try:\n            session.give_up_id(core_id)\n"),
        (
            "        session.give_up_id(core_id)\n"
            "        failed = self._destroy(told_of, ledger)\n"
            "        try:\n"
            "            pass\n"
        ),
        Drawn.ALL,
        seed=1_020,
        rare=True,
    ),
    Mutation(
        "an id that is refused is not replaced",
        "core/executor.py",
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
        "core/executor.py",
        "        run_if_free(self._settings.turn, send)",
        "        send()",
    ),
    Mutation(
        "settings that were doubted during the call that sent them count as sent",
        "core/process_settings.py",
        "if self._ledger.now is since:",
        "if True:",
        Drawn.RESTARTS,
        seed=4_660,
    ),
    Mutation(
        "a wish is not taken out where none takes its place",
        "core/process_settings.py",
        "            if other is not wish:\n",
        "            if other is not wish and wish:\n",
    ),
    Mutation(
        "a wish that changes does not change what is wanted",
        "core/process_settings.py",
        "            finally:\n                self.shared.changes += 1\n",
        "            finally:\n                pass\n",
    ),
    Mutation(
        "wishes change without the lock",
        "core/process_settings.py",
        "        with self._lock:\n            try:\n                self._take_out",
        "        if True:\n            try:\n                self._take_out",
        seed=2_747,
    ),
    Mutation(
        "what a call carries that fails stays known",
        "core/ledger.py",
        "        known.pop(option, None)\n",
        "",
        seed=279,
    ),
    Mutation(
        "a lost session knows still what was in force",
        "core/ledger.py",
        "self.now = InForce(NOTHING, doubtful, now.accepted)",
        "self.now = now",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a vote that is in doubt counts as in force",
        "core/ledger.py",
        "is_there = earlier is not None and earlier[1] and",
        "is_there = earlier is not None and",
    ),
    Mutation(
        "what a profile leaves unset is not taken back",
        "core/ledger.py",
        "        if complete is None and (earlier is None or option in superseded):\n            continue\n",
        "        if complete is None:\n            continue\n",
    ),
    Mutation(
        "a wish is never taken out",
        "core/process_settings.py",
        "                numbers.discard(number)\n",
        "                pass\n",
    ),
    Mutation(
        "a raise does not look again at the settings that another was casting",
        "core/executor.py",
        "if first is None and asks and self._settings.difference() is not NOTHING:",
        "if False:",
    ),
)
