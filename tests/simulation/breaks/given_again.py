"""Breaks of what becomes of an id whose number the library gives again."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

GIVEN_AGAIN = (
    Mutation(
        "two sessions have one number",
        "core/given_ids.py",
        "            if before is not None:\n                before.ledger.power_config_id = NULL_CLIENT\n",
        "",
        Drawn.VARIED_RESTARTS,
    ),
    Mutation(
        "a number that was given again is used, though calls of another may reach it",
        "core/given_ids.py",
        "crosses |= not before.ending or before.losses != self._losses",
        "pass",
        Drawn.VARIED_RESTARTS,
    ),
    Mutation(
        "an id that a late call has reached is used",
        "core/power_config_ids.py",
        "        self._crossing(functools.partial(self._take_away, power_config_id))\n",
        "        pass\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id that an old one may have taken with it is used",
        "core/given_ids.py",
        "crosses |= hit.losses != self._losses",
        "pass",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id counts as given when its create has returned",
        "core/given_ids.py",
        "given = _Given(made, begun.losses)",
        "given = _Given(made, self._losses)",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "a loss is counted once sessions may have seen it",
        "core/other_controllers.py",
        "        self._shared.given.lost()\n        self._recovery.call_interrupted()\n",
        "        self._recovery.call_interrupted()\n        self._shared.given.lost()\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "votes are removed from an id whose number was given to another",
        "core/given_ids.py",
        "            if given is None or given.ledger is not ledger:\n                return False\n",
        "            if given is None or given.ledger is not ledger:\n                return True\n",
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
