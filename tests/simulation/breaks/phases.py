"""Breaks of phases: their count, the gate, and when a session comes down."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

PHASES = (
    Mutation(
        "an alarm that has rung counts as armed",
        "core/sustain_timer.py",
        "self.alarm_us == at_us:\n            self.alarm, self.covered = None, False",
        "self.alarm_us == at_us:\n            pass",
    ),
    Mutation(
        "the end of INIT shortens a sustain that is pending",
        "core/sustain_timer.py",
        "self._put(max(self.deadline_us, self._time.now_us + after_init_us), after_deinit=False)",
        "self._put(self._time.now_us + after_init_us, after_deinit=False)",
    ),
    Mutation(
        "the deadline is not renewed where an inference ends off the hot path",
        "core/gate.py",
        "        self.sustain.end_inference()\n        idles",
        "        idles",
    ),
    Mutation(
        "DE-INIT ends in the power state between the phases",
        "core/state_machine.py",
        "votes = plan.after_deinit if after_deinit else plan.lowered",
        "votes = plan.lowered",
    ),
    Mutation(
        "after a DE-INIT, INIT ends in the power state of that",
        "core/sustain_timer.py",
        "self._put(max(self.deadline_us, self._time.now_us + after_init_us), after_deinit=False)",
        "self.deadline_us = max(self.deadline_us, self._time.now_us + after_init_us)",
    ),
    Mutation(
        "an old DE-INIT counts as the last phase once the end of a sustain sets its deadline again",
        "core/sustain_timer.py",
        " + after_deinit\n        self._deinit_ns = ended_ns if after_deinit else _NEVER\n",
        "\n        if after_deinit:\n            self._deinit_ns = ended_ns\n",
        drawn=Drawn.SEQUENCES,
        seed=15_400,
    ),
    Mutation(
        "a token is made without the lock",
        "core/gate.py",
        "        with self.lock:\n            return self.tokens.make()",
        "        if True:\n            return self.tokens.make()",
        seed=669,
    ),
    Mutation(
        "INIT and DE-INIT do not count as use",
        "core/tokens.py",
        "return len(self.idle) < self.made or bool(self.preparing)",
        "return len(self.idle) < self.made",
    ),
    Mutation(
        "the token of an inference that does not begin is not taken back",
        "core/tokens.py",
        "        self.made = len(self._watched)\n",
        "",
        seed=214,
    ),
    Mutation(
        "no alarm is armed where the last inference ends",
        "core/gate.py",
        "            if self.sustain.us and self.arm():\n                return False",
        "            if self.sustain.us:\n                return False",
    ),
    Mutation(
        "whether the gate is open is looked at before the token is taken",
        "phases/blocks.py",
        (
            "        gate, token = self._phases.gate, None\n"
            "        try:\n"
            "            try:\n"
            "                token = gate.tokens.idle.pop()\n"
            "            except IndexError:\n"
            "                token = gate.token()\n"
            "            if self._token is not None:\n"
            "                gate.drop(token)\n"
            '                raise PhaseMisuse("this inference is being '
            'run: call inference() for each")  # noqa: TRY301\n'
            "            self._token = token\n"
            "            pace = gate.pace\n"
            "            if pace is not None and pace.watch is not None:\n"
            "                token.begun_ns = gate.time.now_ns()\n"
            "                token.within = gate.tokens.preparing\n"
            "            if gate.open:\n"
            "                return\n"
        ),
        (
            "        gate, token = self._phases.gate, None\n"
            "        was_open = gate.open\n"
            "        try:\n"
            "            try:\n"
            "                token = gate.tokens.idle.pop()\n"
            "            except IndexError:\n"
            "                token = gate.token()\n"
            "            if self._token is not None:\n"
            "                gate.drop(token)\n"
            '                raise PhaseMisuse("this inference is being '
            'run: call inference() for each")  # noqa: TRY301\n'
            "            self._token = token\n"
            "            pace = gate.pace\n"
            "            if pace is not None and pace.watch is not None:\n"
            "                token.begun_ns = gate.time.now_ns()\n"
            "                token.within = gate.tokens.preparing\n"
            "            if was_open:\n"
            "                return\n"
        ),
        seed=71_001_992,
    ),
    Mutation(
        "the deadline is not renewed on the hot path",
        "phases/blocks.py",
        "                    sustain.ended_ns = gate.time.now_ns()\n",
        "",
    ),
    Mutation(
        "an alarm that is gone counts as armed on the hot path",
        "core/sustain_timer.py",
        "self.alarm, self.covered = None, False",
        "self.alarm = None",
    ),
    Mutation(
        "an alarm that rings after the sustain of the next inference counts as in time",
        "core/sustain_timer.py",
        "self.covered = self.alarm_us <= self._time.now_us + self.us",
        "self.covered = True",
        seed=70_000_465,
    ),
    Mutation(
        "an interrupted end of an inference is not looked at again",
        "phases/blocks.py",
        (
            "        except BaseException as interrupt:\n"
            "            self._phases.gate.time.call_soon(self._phases.look_again)\n"
            "            # A token that was not given back is counted when nothing refers to it any more.\n"
            "            self._token = token = None\n"
            "            clear_frames(interrupt)\n"
        ),
        (
            "        except BaseException as interrupt:\n"
            "            self._token = token = None\n"
            "            clear_frames(interrupt)\n"
        ),
        Drawn.ALL,
    ),
    Mutation(
        "a coroutine that ends its inference lowers nothing",
        "phases/async_blocks.py",
        "must_lower = phases.gate.end(token)",
        "must_lower = phases.gate.end(token) and error is not None",
    ),
    Mutation(
        "a coroutine does not wait for its votes",
        "phases/async_blocks.py",
        "            await self._answer\n        except",
        "            pass\n        except",
    ),
    Mutation(
        "a coroutine that is cancelled while its votes are raised has nobody lower them",
        "phases/async_blocks.py",
        "                finally:\n                    self._phases.look_again()\n",
        "                finally:\n                    pass\n",
        rare=True,
    ),
    Mutation(
        "an alarm that rings at its deadline finds that it is not over: < as <=",
        "core/state_machine.py",
        "(now_us < use.deadline_us and",
        "(now_us <= use.deadline_us and",
    ),
)
