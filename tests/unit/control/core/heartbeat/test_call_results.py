"""A heartbeat whose call reports a restart or fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from support.bench import BURST_SUSTAIN_US, HEARTBEAT_US, MAX_CORNER, Bench, options
from support.second_controller import polling_us

from htppower import State, load_profile
from htppower.events import Cause, Transition, Trigger
from htppower.votes.native_codes import FAILED, INVALID_INPUT, SYSTEM_COMMUNICATION_FATAL, TRANSPORT
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

SECOND_US = 1_000_000


def only_polling() -> Profile:
    """Return a profile that votes for a setting of the process only."""
    burst = load_profile("burst")
    assert burst.relax is not None
    off = attrs.evolve(burst.relax.to, votes=VoteSet(rpc_polling_time_us=0))
    relax = attrs.evolve(burst.relax, to=off, after_deinit_to=off)
    return attrs.evolve(burst, votes=VoteSet(rpc_polling_time_us=5000), relax=relax)


def test_a_restart_is_noticed_within_an_inference_that_never_ends(bench: Bench) -> None:
    """After a restart during a long inference, the next heartbeat sends the votes of every session again."""
    first, second = bench.controller.session("burst"), bench.controller.session("balanced")
    with first.inference(), second.inference():
        bench.time.advance_us(HEARTBEAT_US // 2)
        bench.simulated.restart_subsystem()
        bench.time.advance_us(HEARTBEAT_US // 2 - 1)
        assert bench.effective().core_target != MAX_CORNER
        bench.time.advance_us(1)
        assert bench.effective().core_target == MAX_CORNER
        assert (first.state, second.state) == (State.RAISED, State.RAISED)
    lost = [event for event in bench.events if isinstance(event, Transition) and event.trigger is Trigger.LOSE]
    assert [(event.session, event.cause) for event in lost] == [(1, Cause.HEARTBEAT), (2, Cause.LINK_LOST)]
    assert (lost[0].error is not None, lost[0].attempted) == (True, None)


def test_a_restart_is_noticed_by_a_session_that_is_used_steadily_in_its_window(bench: Bench) -> None:
    """Inferences within the sustain time make no call, so the heartbeat between them notices the restart."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.restart_subsystem()
    for _ in range(3 * HEARTBEAT_US // BURST_SUSTAIN_US):
        bench.time.advance_us(BURST_SUSTAIN_US // 2)
        bench.infer(session)
    assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)


def test_a_restart_is_noticed_by_a_session_with_nothing_but_settings_of_the_process(bench: Bench) -> None:
    """If a session votes only for settings of the process, its heartbeat sends these in one call."""
    session = bench.controller.session(only_polling())
    with session.inference():
        bench.time.advance_us(HEARTBEAT_US)
        assert [(call.time_us, options(call)) for call in bench.sets[1:]] == [(HEARTBEAT_US, ["RPC_POLLING_TIME"])]
        bench.simulated.restart_subsystem()
        bench.time.advance_us(HEARTBEAT_US - 1)
        assert polling_us(bench) == 0
        bench.time.advance_us(1)
        assert (polling_us(bench), session.state) == (5000, State.RAISED)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (polling_us(bench), session.state) == (0, State.LOWERED)


def test_an_id_that_a_restart_has_made_unknown_is_created_anew(bench: Bench) -> None:
    """If the restart has made the id unknown, the heartbeat gets 1007, and a new id is created."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.restart_subsystem(forget_ids=True)
        bench.time.advance_us(HEARTBEAT_US)
        assert (session.state, bench.simulated.power_config_ids) == (State.RAISED, (2,))


def test_an_id_that_the_library_no_longer_knows_is_created_anew(bench: Bench) -> None:
    """If another user of the library has freed the device, the heartbeat gets 13001, and a new id is made at once."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.close()
        bench.time.advance_us(HEARTBEAT_US)
        assert INVALID_INPUT in [call.code for call in bench.sets]
        assert (session.state, bench.simulated.power_config_ids) == (State.RAISED, (2,))


def test_a_beat_that_fails_once_is_tried_again_at_once(bench: Bench) -> None:
    """A healthy link may answer 13003 once, so the heartbeat is sent again at once."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(TRANSPORT)
        bench.time.advance_us(HEARTBEAT_US)
        assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)


def test_a_beat_that_is_refused_loses_the_votes_until_the_back_off(bench: Bench) -> None:
    """After a refused heartbeat the session is UNKNOWN, and its votes are sent again after 1 s."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(FAILED)
        bench.time.advance_us(HEARTBEAT_US)
        assert session.error is not None
        assert (session.state, session.error.code) == (State.UNKNOWN, FAILED)
        bench.time.advance_us(SECOND_US)
        assert session.state is State.RAISED


def test_a_dead_dsp_that_a_beat_finds_is_left_to_the_back_off(bench: Bench) -> None:
    """After a 1011 no call is made for a second, and no heartbeat is due while no votes are raised."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.restart_subsystem(fatal=True)
        bench.time.advance_us(HEARTBEAT_US + SECOND_US - 1)
        assert (session.state, bench.sets[-1].code) == (State.UNKNOWN, SYSTEM_COMMUNICATION_FATAL)
        assert bench.sets[-1].time_us == HEARTBEAT_US
        bench.simulated.restart_subsystem()
        bench.time.advance_us(HEARTBEAT_US)
        assert session.state is State.RAISED
