"""Breaks of settling: the turn, the steps, opening and closing, and the state that a session is in."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

SETTLING = (
    Mutation(
        "a session is settled without its turn",
        "core/reconciler.py",
        "        with session.turn:\n            settled = settle(session, cause,",
        "        if True:\n            settled = settle(session, cause,",
    ),
    Mutation(
        "the ids of a lost session are not doubted",
        "core/stepper.py",
        "            session.doubted = frozenset(session.ledgers)\n",
        "",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a call that was interrupted counts as not made",
        "core/stepper.py",
        "if session.casting or (lost",
        "if (lost",
        Drawn.ALL,
    ),
    Mutation(
        "a session that meets a restart is not settled again",
        "core/reconciler.py",
        "        while settled.again:\n",
        "        while False:\n",
        Drawn.RESTARTS,
    ),
    Mutation(
        "no alarm is armed where a sustain is pending when a session is settled",
        "core/stepper.py",
        "if not use.busy and not gate.arm() and gate.shut_if_idle(use.deadline_us):",
        "if False:",
    ),
    Mutation(
        "a session whose call failed is not tried again",
        "core/stepper.py",
        "                self._recovery.failed(session, error)\n                return Settled(error)",
        "                return Settled(error)",
    ),
    Mutation(
        "the queue of lost sessions is not taken when a turn is given back",
        "core/reconciler.py",
        "        if not self._recovery.calm:\n            self._settle_queued()\n        self._events.deliver()",
        "        self._events.deliver()",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a session that opens while the DSP is out of reach is not tried again",
        "opener.py",
        "                self._recovery.failed(session, error)\n                # A restart",
        "                # A restart",
        Drawn.RESTARTS,
    ),
    Mutation(
        "a session that opens as the DSP comes back waits for the back-off",
        "opener.py",
        "                    session.again = Cause.LINK_LOST",
        "                    pass",
        Drawn.RESTARTS,
        rare=True,
    ),
    Mutation(
        "what was asked for during a turn is not looked at when the turn is given back",
        "core/reconciler.py",
        "        self._settle_if_asked(session)\n        return settled.error",
        "        self.after_turn()\n        return settled.error",
        seed=436,
    ),
    Mutation(
        "a session in use is not revised when its profile changes",
        "core/stepper.py",
        "                differs = self._executor.differs(session, plan.raised)\n",
        "                pass\n",
    ),
    Mutation(
        "the gate stays open when the votes come down",
        "core/stepper.py",
        "not gate.shut_if_idle(use.deadline_us):",
        "gate.use().busy:",
    ),
    Mutation(
        "a cast that is interrupted leaves the state as it was",
        "core/state_machine.py",
        "        session.casting = True\n",
        "",
        Drawn.ALL,
        seed=70_001_683,
    ),
    Mutation(
        "the state changes before the call is made",
        "core/state_machine.py",
        "        outcome = self._executor.run(session, step.votes,",
        "        session.state = dest\n        outcome = self._executor.run(session, step.votes,",
    ),
    Mutation(
        "a cast that was made counts as under way",
        "core/state_machine.py",
        "            session.error = None\n            session.casting = False\n",
        "            session.error = None\n",
    ),
    Mutation(
        "a change of profile does not end a sustain",
        "core/stepper.py",
        "session.gate.follow(plan, ends_sustain=True)",
        "session.gate.follow(plan)",
    ),
    Mutation(
        "a dead DSP is not left alone",
        "core/stepper.py",
        "if not self._recovery.calm and self._recovery.puts_off(cause) and not closing:",
        "if False:",
        Drawn.RESTARTS,
        seed=106,
    ),
)
