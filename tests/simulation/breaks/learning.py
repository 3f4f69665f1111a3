"""Breaks of what sessions learn, of second power states, and of what is raised ahead."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

LEARNING = (
    Mutation(
        "a gap is learnt from twice",
        "learning/watch.py",
        "            learner.learn(max(0, self._first_ns - idle_ns) // 1000, waited=waited is True)\n",
        "            learner.learn(max(0, self._first_ns - idle_ns) // 1000, waited=waited is True)\n"
        "            learner.learn(0)\n",
        Drawn.LEARNING,
        seed=15,
    ),
    Mutation(
        "a time-out goes by no limit that is stated",
        "../sustain/leader.py",
        "return max(sustain.least_us, min(_kept(within_us), sustain.most_us))",
        "return _kept(max(0, within_us - worth_us // 2))",
        Drawn.LEARNING,
        seed=15,
    ),
    Mutation(
        "a time that was learnt counts from the alarm, and not from the last end",
        "core/sustain_timer.py",
        "        deadline_us = self.ended_ns // 1000 + self.us\n        ahead",
        "        since_us = self.alarm_us if self.watch and self.alarm else self.ended_ns // 1000\n"
        "        deadline_us = since_us + self.us\n        ahead",
        Drawn.LEARNING,
    ),
    Mutation(
        "votes that are up for a predicted begin stay up after it began",
        "learning/raise_ahead.py",
        "            self.until_us = 0\n            self._found_up",
        "            self.until_us += 50_000\n            self._found_up",
        Drawn.LEARNING,
    ),
    Mutation(
        "votes are up for a predicted begin until that, and then for good",
        "core/sustain_timer.py",
        "        until_us = ahead.until_us\n        ahead.give_up()\n",
        "        until_us = ahead.until_us\n        ahead.until_us += 100_000\n",
        Drawn.LEARNING,
    ),
    Mutation(
        "votes are up for a predicted begin only until that",
        "learning/raise_ahead.py",
        "self.until_us = self._due_us + self.lead_us",
        "self.until_us = self._due_us",
        Drawn.LEARNING,
    ),
    Mutation(
        "votes are raised twice as long ahead",
        "learning/raise_ahead.py",
        "self._alarm = self._time.call_at(max(now_us, begin_us - self.lead_us), rang)",
        "self._due_us = begin_us - self.lead_us\n"
        "            self._alarm = self._time.call_at(max(now_us, begin_us - 2 * self.lead_us), rang)",
        Drawn.LEARNING,
    ),
    Mutation(
        "nothing is raised ahead",
        "core/gate.py",
        "        if raises:\n            self._ring(self._session, Cause.INFERENCE_EXPECTED)",
        "        if False:\n            self._ring(self._session, Cause.INFERENCE_EXPECTED)",
        Drawn.LEARNING,
    ),
    Mutation(
        "raises ahead are not paid for",
        "learning/raise_ahead.py",
        "self._refused = not self.purse.pay()",
        "self._refused = False",
        Drawn.LEARNING,
        seed=210,
    ),
    Mutation(
        "the hint of the next begin ends with the inference that runs",
        "core/gate.py",
        "since_us = now_us + is_busy",
        "since_us = now_us",
        Drawn.LEARNING,
    ),
    Mutation(
        "an inference that waits beside another is taken for a begin of an idle session",
        "core/gate.py",
        "tokens.first() is token:",
        "not token.within:",
        Drawn.LEARNING_SEQUENCES,
    ),
    Mutation(
        "an inference that began within INIT is a begin",
        "learning/watch.py",
        "counts=begun_ns != NOT_TIMED and not token.within)",
        "counts=begun_ns != NOT_TIMED)",
        Drawn.ANYTHING,
        seed=900_000,
    ),
    Mutation(
        "another profile that comes and goes has the second power state forgotten",
        "core/sustain_timer.py",
        "            self.further.forget_gap()\n",
        "            self.further.forget()\n",
        Drawn.LEARNING,
    ),
    Mutation(
        "votes that another profile has relaxed relax further",
        "learning/further.py",
        " or self._lowered_by != self._profile:",
        ":",
        Drawn.LEARNING,
    ),
    Mutation(
        "no alarm is armed for the second power state",
        "core/gate.py",
        "return due_us <= self.time.now_us or not self.sustain.set_alarm(self, due_us, Cause.SUSTAIN_EXPIRED)",
        "return due_us <= self.time.now_us",
        Drawn.LEARNING,
    ),
    Mutation(
        "votes relax further at once",
        "core/gate.py",
        "return due_us <= self.time.now_us or not self.sustain.set_alarm(self, due_us, Cause.SUSTAIN_EXPIRED)",
        "return True",
        Drawn.LEARNING,
    ),
    Mutation(
        "DE-INIT ends in the second power state",
        "core/gate.py",
        "elif trigger is Trigger.LOWER and not self.sustain.after_deinit:",
        "elif trigger is Trigger.LOWER:",
        Drawn.LEARNING,
    ),
    Mutation(
        "the time of the second power state counts from the last end",
        "core/gate.py",
        "                further.lowered(self.time.now_us)",
        "                further.lowered(self.sustain.ended_ns // 1000)",
        Drawn.LEARNING,
    ),
    Mutation(
        "a session that is lowered rests, though its votes relax further later",
        "core/stepper.py",
        "waits = session.gate.sustain.further is not None and step.trigger is Trigger.LOWER",
        "waits = False",
        Drawn.LEARNING,
    ),
    Mutation(
        "the gate is opened after a lowering that may relax further",
        "core/stepper.py",
        "if step is None and (target is State.RAISED or not plan.casts) and not gate.open:",
        "if step is None and (target is State.RAISED or not plan.casts or gate.sustain.further) and not gate.open:",
        Drawn.LEARNING,
    ),
    Mutation(
        "a gap is not learnt from where an inference waits after it",
        "learning/watch.py",
        "        if idle_ns != _LATE and learner is not None:\n",
        "        if idle_ns != _LATE and learner is not None and not waited:\n",
        Drawn.LEARNING,
    ),
    Mutation(
        "a time-out is longer than the bank bears",
        "../sustain/leader.py",
        "min(time_out_us, 2 * worth_us, worth_us + half_us)",
        "2 * worth_us",
        Drawn.LEARNING,
    ),
)
