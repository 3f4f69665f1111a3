"""``relax`` as a value: its power states, and when each is reached."""

from __future__ import annotations

import attrs
import pytest

from htppower import Adaptive, Lowering, PowerState, Profile, Relax, Then, load_profile
from htppower.profiles.profile import is_held, power_states, with_states
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Sustain
from htppower.votes.vote_set import VoteSet

BURST, SAVER = load_profile("burst"), load_profile("power_saver")
assert BURST.relax is not None
assert SAVER.relax is not None
RELAX, LOW = BURST.relax, SAVER.relax.to
THEN = attrs.evolve(RELAX, then=Then(LOW, 2_000_000))
HELD = attrs.evolve(RELAX, to=PowerState("held", "As burst.", BURST.votes))


def burst(relax: Relax) -> Profile:
    """Return burst with another ``relax``."""
    return attrs.evolve(BURST, relax=relax)


def test_every_power_state_is_changed_where_it_is_named() -> None:
    """``with_states`` changes each power state, also the second one."""
    bare = with_states(THEN, lambda state: attrs.evolve(state, votes=VoteSet()))
    assert bare.then is not None
    assert {state.votes for state in (bare.to, bare.after_deinit_to, bare.then.to)} == {VoteSet()}
    assert bare.then.after_us == 2_000_000
    assert with_states(RELAX, lambda state: state) == RELAX


def test_power_states_are_told_once() -> None:
    """The second power state is listed only if no other field names it."""
    assert [at[1:] for at, _ in power_states(burst(THEN))] == [("to",), ("after_deinit_to",), ("then", "to")]
    again = attrs.evolve(RELAX, then=Then(RELAX.after_deinit_to, 0))
    assert [at[1:] for at, _ in power_states(burst(again))] == [("to",), ("after_deinit_to",)]


def test_a_profile_that_relaxes_further_is_not_held() -> None:
    """A profile is held only if its second power state, too, has its votes."""
    assert is_held(burst(HELD))
    assert is_held(burst(attrs.evolve(HELD, then=Then(HELD.to, 0))))
    assert not is_held(burst(attrs.evolve(HELD, then=Then(LOW, 0))))


@pytest.mark.parametrize(
    ("sustain", "acts"),
    [
        (0, True),
        (300_000, False),
        (Adaptive(break_even_us=100_000), True),
        (Adaptive(break_even_us=100_000, least_us=20_000), False),
    ],
)
def test_a_learnt_time_that_may_be_0_lowers_in_the_background(sustain: Sustain, acts: bool) -> None:
    """Background lowering has an effect if votes may be lowered without a timer."""
    relax = attrs.evolve(RELAX, after_inference_us=sustain, lowering=Lowering.BACKGROUND)
    assert relax.lowers_in_background is acts
    assert not attrs.evolve(relax, lowering=Lowering.FOREGROUND).lowers_in_background


def test_no_time_is_longer_than_any_may_be() -> None:
    """Twice the break-even time is cut to an hour, the longest sustain time."""
    assert Adaptive(break_even_us=LONGEST_SUSTAIN_US).most_us == LONGEST_SUSTAIN_US
