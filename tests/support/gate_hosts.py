"""A gate in virtual time without a session around it, and objects that only the garbage collector frees."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower import load_profile
from htppower.control.gate.gate import Gate
from htppower.control.plans.plans import Missing, Plan, Planner
from htppower.profiles.profile import Lowering
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.gate.tokens import Token
    from htppower.events import Cause

SUSTAIN_US = 300_000
INIT_US = 400_000


def make_plan(init_us: int, sustain_us: int, *, background: bool = False, voting: bool = True) -> Plan:
    """Return a plan whose votes stay up for a time after INIT, and after an inference."""
    profile = load_profile("burst" if voting else "system_settings")
    lowering = Lowering.BACKGROUND if background else Lowering.FOREGROUND
    plan = Planner(None, Missing(), strict=False).plan(profile)
    return attrs.evolve(plan, after_init_us=init_us, after_inference_us=sustain_us, lowering=lowering)


@attrs.define
class Host:
    """A gate in virtual time, with the causes that it reported."""

    time: VirtualTime
    gate: Gate
    rings: list[tuple[int, Cause]]

    @classmethod
    def make(cls, *, sustain_us: int = SUSTAIN_US, background: bool = False, voting: bool = True) -> Host:
        """Return an open gate, like the gate of a raised session."""
        time, rings = VirtualTime(), []
        plan = make_plan(INIT_US, sustain_us, background=background, voting=voting)
        gate = Gate("the session", time, lambda session, cause: rings.append((time.now_us, cause)), plan)
        gate.set_open()
        return cls(time, gate, rings)

    def begin(self) -> Token:
        """Begin an inference, as a phase does."""
        return self.gate.tokens.idle.pop() if self.gate.tokens.idle else self.gate.token()

    def end_soon(self, token: Token) -> None:
        """End an inference soon, like a generator that is garbage collected inside it."""
        self.time.call_soon(functools.partial(self.gate.end, token))

    def settle(self) -> None:
        """Run the work that the garbage collector left for soon."""
        self.time.advance_us(0)


@attrs.define(eq=False)
class Loop:
    """An object that only the garbage collector frees; it may hold a token, and release it in its finalizer."""

    token: Token | None
    me: Loop | None = None
    finalize: Callable[[Token], object] | None = None

    def __del__(self) -> None:
        """Release the token, like a generator that is garbage collected inside a phase."""
        if self.finalize is not None and self.token is not None:
            self.finalize(self.token)


def collect(token: Token, finalize: Callable[[Token], object] | None = None) -> None:
    """Put a token into a reference cycle, so that only the garbage collector frees it. The caller must drop it."""
    loop = Loop(token, finalize=finalize)
    loop.me = loop
