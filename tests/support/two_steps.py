"""Profiles that relax in two steps, and their transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.learning import relaxing

from htppower import Profile, load_profile
from htppower.events import Transition, Trigger
from htppower.profiles.profile import PowerState, Then

if TYPE_CHECKING:
    from support.bench import Bench

    from htppower.profiles.sustain import Sustain

SUSTAIN_US = 100_000
AFTER_US = 2_000_000


def released() -> PowerState:
    """Return a power state below that of burst."""
    relax = load_profile("burst").relax
    assert relax is not None
    return relax.after_deinit_to


def in_two_steps(after_us: Sustain = AFTER_US, sustain: Sustain = SUSTAIN_US) -> Profile:
    """Return a profile that relaxes twice."""
    return relaxing(after_inference_us=sustain, then=Then(released(), after_us))


def triggers(bench: Bench) -> list[Trigger]:
    """Return the transitions that were made."""
    return [event.trigger for event in bench.events if isinstance(event, Transition)]
