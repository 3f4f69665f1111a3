"""Breaks of what becomes of an id whose number the library gives again."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

GIVEN_AGAIN = (
    Mutation(
        "two sessions have one number",
        "core/power_config_ids.py",
        "if before is not None and before.ledger is not made and not (before.ending and before.losses == losses):",
        "if False:",
        Drawn.VARIED_RESTARTS,
    ),
    Mutation(
        "an id that a late call has reached is used",
        "core/power_config_ids.py",
        "        self._spoil(power_config_id)\n        self._lost()\n",
        "        pass\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id that an old one may have taken with it is used",
        "core/power_config_ids.py",
        "lost = shared.ended.get(number, 0) > ends",
        "lost = False",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id whose number was given to another is destroyed again",
        "core/power_config_ids.py",
        "if self._note_end(ledger, power_config_id, ending=False):",
        "if self._note_end(ledger, power_config_id, ending=False) and False:",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "sessions wait for who has found a number given twice",
        "core/other_controllers.py",
        "        self.call_interrupted()\n        self._settle_soon()\n",
        "        self.call_interrupted()\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id that a closed controller must not use is left",
        "opener.py",
        "if self._registry.orphans and self._registry.closed:",
        "if failures and self._registry.closed:",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
)
