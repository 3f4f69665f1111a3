"""Breaks of recovery: lost links, the back-off, the heartbeat."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

RECOVERING = (
    Mutation(
        "the settings of the process are not doubted after a lost link",
        "core/recovery.py",
        "        self._settings.lose()\n        self._registry.epoch += 1\n",
        "        self._registry.epoch += 1\n",
        Drawn.RESTARTS,
    ),
    Mutation(
        "lost sessions do not join the queue",
        "core/recovery.py",
        "                self._queue.setdefault(session, cause)\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a DSP that was dead stays dead when it restarts",
        "core/recovery.py",
        "            self._dead_until_us = 0\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "the back-off rings, and no session that lacks votes joins the queue",
        "core/recovery.py",
        (
            "            for session in self._by_urgency(self._lacking):\n"
            "                self._queue.setdefault(session, Cause.RETRIED)\n"
        ),
        "",
    ),
    Mutation(
        "ids that could not be destroyed do not keep the back-off going",
        "core/recovery.py",
        " or bool(self._registry.orphans)",
        "",
    ),
    Mutation(
        "a lost link begins no new epoch",
        "core/recovery.py",
        "        self._settings.lose()\n        self._registry.epoch += 1\n",
        "        self._settings.lose()\n",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a lost link begins the new epoch before the settings of the process are doubted",
        "core/recovery.py",
        "        self._settings.lose()\n        self._registry.epoch += 1\n",
        "        self._registry.epoch += 1\n        self._settings.lose()\n",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "sessions wait for who is told of a lost link and goes on",
        "core/other_controllers.py",
        "        if is_news:\n            self._settle_soon()\n",
        "",
        Drawn.VARIED_RESTARTS,
        rare=True,
    ),
    Mutation(
        "the first restart is left to the back-off",
        "core/recovery.py",
        "self._restarts > MOST_RESTARTS",
        "self._restarts >= 1",
        Drawn.RESTARTS,
    ),
    Mutation(
        "the queue is taken, and not emptied",
        "core/recovery.py",
        "            queued, self._queue = self._queue, {}\n            return queued",
        "            return dict(self._queue)",
        Drawn.RESTARTS,
    ),
    Mutation(
        "nothing that failed is tried again",
        "core/recovery.py",
        "if not self.stopped and not self._alarm.armed:",
        "if False:",
    ),
    Mutation(
        "a back-off that has rung counts as armed",
        "time/alarms.py",
        "        self._alarm = None\n        return True",
        "        return True",
    ),
    Mutation(
        "the back-off grows without end",
        "core/recovery.py",
        "self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)",
        "self._delay_us = 2 * self._delay_us",
        seed=1774,
    ),
    Mutation(
        "a dead DSP is called again at once",
        "core/recovery.py",
        "                self._dead_until_us = now_us + self._delay_us\n",
        "",
        Drawn.RESTARTS,
        seed=70_000_276,
    ),
    Mutation(
        "a dead DSP is left alone at the very time of the retry: < as <=",
        "core/recovery.py",
        "and self._time.now_us < self._dead_until_us",
        "and self._time.now_us <= self._dead_until_us",
        Drawn.RESTARTS,
        rare=True,
    ),
    Mutation(
        "what was under way when a restart was told makes the DSP count as dead",
        "core/other_controllers.py",
        "return restarts is not None and restarts < self._shared.restarts",
        "return False",
        Drawn.RESTARTS,
        seed=111,
    ),
    Mutation(
        "another controller takes the DSP for dead though it was told of a restart since",
        "core/other_controllers.py",
        "earlier = earlier or (error.code == SYSTEM_COMMUNICATION_FATAL and self._is_earlier(restarts))",
        "pass",
        Drawn.VARIED_RESTARTS,
        seed=2_610,
    ),
    Mutation(
        "a lost link leaves recovery calm, so that nobody asks it",
        "core/recovery.py",
        "        self.calm = False\n        # First: a session that sees",
        "        # First: a session that sees",
        Drawn.RESTARTS,
        rare=True,
    ),
    Mutation(
        "nobody asks the heartbeat to look",
        "core/heartbeat.py",
        "        self._time.call_soon(self._look)\n",
        "",
        Drawn.RESTARTS,
        seed=335,
    ),
)
