"""Breaks of what becomes of an id whose number the library gives again."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

GIVEN_AGAIN = (
    Mutation(
        "two sessions have one number",
        "core/given_ids.py",
        "                before.ledger.power_config_id = NULL_CLIENT\n",
        "",
        Drawn.VARIED_RESTARTS,
    ),
    Mutation(
        "a number that was given again is used, though calls of another may reach it",
        "core/given_ids.py",
        "crosses |= not before.ending or losses != {before.losses}",
        "pass",
        Drawn.VARIED_RESTARTS,
    ),
    Mutation(
        "an id that a late call has reached is used",
        "core/power_config_ids.py",
        "        self._crossing(functools.partial(self._given.take_away, power_config_id, self._registry.orphans))\n",
        "        pass\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id that an old one may have taken with it is used",
        "core/given_ids.py",
        "crosses = max(hits) > begun.hits or self._hits - begun.hits > MOST_HITS",
        "crosses = False",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id counts as given when its create has returned",
        "core/given_ids.py",
        "given = Given(number, made, begun.losses)",
        "given = Given(number, made, self._losses)",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "ids that were given before a loss are as good as those given after it",
        "core/other_controllers.py",
        "            self._shared.given.lost()\n            is_news",
        "            is_news",
        Drawn.VARIED_RESTARTS,
        seed=370,
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
        "whoever is given a number that was just freed has others voted again",
        "core/given_ids.py",
        "loses = is_news or not (before.ending or before.unused or before.ledger in orphans)",
        "loses = True",
        Drawn.TWO_CLOSES,
    ),
    Mutation(
        "who had a number that was given again does not hear of it",
        "core/given_ids.py",
        "loses = is_news or not (before.ending or before.unused or before.ledger in orphans)",
        "pass",
        Drawn.VARIED_RESTARTS,
        seed=270,
    ),
    Mutation(
        "a number that a late destroy may have freed stays its owner's",
        "core/given_ids.py",
        "                return self._take_away(now, orphans)\n",
        "                pass\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "an id whose destroy has failed counts as alive",
        "core/given_ids.py",
        "given.ending, given.losses = False, _MAY_BE_FREE",
        "given.ending = False",
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
