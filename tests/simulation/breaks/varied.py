"""Breaks of tickets, of streams that are left alone, of closing twice, and of two controllers."""

from __future__ import annotations

from simulation.breaks.mutation import Drawn, Mutation

VARIED = (
    Mutation(
        "a ticket does not end after its timeout",
        "phases/tickets.py",
        "        ticket._expire()  # noqa: SLF001 - the alarm's part of it\n",
        "        pass\n",
        Drawn.VARIED,
    ),
    Mutation(
        "the inference of a stream does not begin again where its reader comes back",
        "phases/idle_timeout.py",
        "            return not self._inference.running\n",
        "            return False\n",
        Drawn.VARIED,
    ),
    Mutation(
        "the inference of a stream does not end while its reader stops",
        "phases/idle_timeout.py",
        "            token = self._inference.take()\n            # Last",
        "            token = None\n            # Last",
        Drawn.VARIED,
    ),
    Mutation(
        "what the sessions of another controller ask of the process does not count",
        "core/process_settings.py",
        "        if self.shared.joined > 1:\n",
        "        if False:\n",
        Drawn.VARIED,
    ),
    Mutation(
        "a controller that has left casts settings of the process where it is closed again",
        "core/process_settings.py",
        "            self._left = True\n            self.shared.leave(self)",
        "            self.shared.leave(self)",
        Drawn.VARIED_ALL,
        seed=297,
    ),
    Mutation(
        "two threads bring down what is left of closed sessions at the same time",
        "core/remains.py",
        "        with self._lock:\n            if self._bring_down(",
        "        if True:\n            if self._bring_down(",
        Drawn.VARIED,
        seed=175,
    ),
    Mutation(
        "a session leaves the registry before its end is told",
        "core/state_machine.py",
        "            session.state = dest\n            session.error = None\n",
        "            if dest is State.DESTROYED:\n                self._registry.sessions.pop(session.number, None)\n"
        "            session.state = dest\n            session.error = None\n",
        Drawn.VARIED,
        seed=6_950,
    ),
)
