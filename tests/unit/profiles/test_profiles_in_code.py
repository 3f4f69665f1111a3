"""A profile made in code is checked for the types and ranges of its fields before a vote is sent."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from support.bench import Bench

from htppower import ProfileError, load_profile
from htppower.profiles.made_in_code import wrong_values
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.profile import Profile, Then
from htppower.profiles.sustain import Adaptive
from htppower.votes.corners import VoltageCorner

BURST = load_profile("burst")
assert BURST.relax is not None
RELEASED = BURST.relax.after_deinit_to
THEN = Then(RELEASED, 0)
LEARNT = Adaptive(break_even_us=100_000)


def evolved(value: Any, **fields: Any) -> Any:
    """Return a value with other fields, also of wrong types."""
    return attrs.evolve(value, **fields)


def with_votes(**votes: Any) -> Profile:
    """Return burst with other votes."""
    return attrs.evolve(BURST, votes=attrs.evolve(BURST.votes, **votes))


def with_dcvs(**fields: Any) -> Profile:
    """Return burst with other fields of its HVX vote."""
    assert BURST.votes.dcvs_v3 is not None
    return with_votes(dcvs_v3=attrs.evolve(BURST.votes.dcvs_v3, **fields))


def with_relax(**fields: Any) -> Profile:
    """Return burst with other fields in ``relax``."""
    assert BURST.relax is not None
    return attrs.evolve(BURST, relax=attrs.evolve(BURST.relax, **fields))


def with_state(**votes: Any) -> Profile:
    """Return burst with other votes in its power state."""
    assert BURST.relax is not None
    to = BURST.relax.to
    return with_relax(to=attrs.evolve(to, votes=attrs.evolve(to.votes, **votes)))


WRONG = [
    (with_votes(rpc_control_latency_us=-1), "VALUE-1: rpc_control_latency_us is -1"),
    (with_votes(rpc_control_latency_us=2**32 + 5), "VALUE-1: rpc_control_latency_us is 4294967301"),
    (with_votes(rpc_control_latency_us=1.5), "TYPE-1: rpc_control_latency_us is 1.5"),
    (with_votes(rpc_control_latency_us=True), "TYPE-1: rpc_control_latency_us is True"),
    (with_votes(rpc_control_latency_us="100"), "TYPE-1: rpc_control_latency_us is '100'"),
    (with_votes(rpc_control_latency_us=[1]), r"TYPE-1: rpc_control_latency_us is \[1\]"),
    (with_votes(rpc_control_latency_us=float("nan")), "TYPE-1: rpc_control_latency_us is nan"),
    (with_votes(adaptive_polling_time_us=-5), "VALUE-1: adaptive_polling_time_us is -5"),
    (with_votes(rpc_polling_time_us=9998.5), "TYPE-1: rpc_polling_time_us is 9998.5"),
    (with_votes(rpc_polling_time_us=-1), "RPC-1"),
    (with_votes(hmx_timeout_us=2**32 + 300), "TMR-1"),
    (with_votes(hmx_timeout_us="300"), "TYPE-1: hmx_timeout_us is '300'"),
    (with_votes(ddr_perf_mode=7), "TYPE-1: ddr_perf_mode is 7"),
    (with_votes(dcvs_v3={"core": 1}), "TYPE-1: dcvs_v3 is"),
    (with_dcvs(sleep_latency_us=100.5), "TYPE-1: sleep_latency_us is 100.5"),
    (with_dcvs(sleep_latency_us=2**32 + 40), "DCVS-1"),
    (with_dcvs(power_mode=None), "TYPE-1: power_mode is None"),
    (with_dcvs(power_mode=99), "TYPE-1: power_mode is 99"),
    (with_dcvs(core=VoltageCorner.NOM), "TYPE-1: core is"),
    (with_state(rpc_control_latency_us=-1), "VALUE-1: rpc_control_latency_us is -1"),
    (with_relax(after_inference_us=-1), "VALUE-1: after_inference_us is -1"),
    (with_relax(after_inference_us=1.5), "TYPE-1: after_inference_us is 1.5"),
    (with_relax(after_inference_us=Adaptive(break_even_us=0)), "VALUE-1: break_even_us is 0"),
    (with_relax(after_inference_us=evolved(LEARNT, most_us=1.5)), "TYPE-1: most_us is 1.5"),
    (with_relax(after_inference_us=Adaptive(break_even_us=100_000, least_us=-1)), "VALUE-1: least_us is -1"),
    (with_relax(after_inference_us=Adaptive(cold_starts_ppm=1_000_000)), "VALUE-1: cold_starts_ppm is 1000000"),
    (with_relax(after_inference_us=Adaptive("5 ms")), "TYPE-1: break_even_us is '5 ms'"),  # type: ignore[arg-type] # as below
    (with_relax(after_inference_us=Adaptive()), "VALUE-1: after_inference_us states no goal"),
    (with_relax(after_inference_us=Adaptive(9, 9)), "VALUE-1: after_inference_us states break_even_us and cold_st"),
    (with_relax(then="released"), "TYPE-1: then is 'released'"),
    (with_relax(then=evolved(THEN, to="released")), "TYPE-1: to is 'released'"),
    (with_relax(then=Then(RELEASED, -1)), "VALUE-1: after_us is -1"),
    (with_relax(then=evolved(THEN, after_us=None)), "TYPE-1: after_us is None"),
    (with_relax(then=Then(evolved(RELEASED, votes=None), 0)), "TYPE-1: to is None"),
    (with_relax(raise_ahead_us=1_000_001), "VALUE-1: raise_ahead_us is 1000001"),
    (with_relax(raise_ahead_us="5 ms"), "TYPE-1: raise_ahead_us is '5 ms'"),
    (with_relax(after_init_us=10**10), "VALUE-1: after_init_us is 10000000000"),
    (with_relax(to="relaxed"), "TYPE-1: to is 'relaxed'"),
    (with_relax(lowering="background"), "TYPE-1: lowering is 'background'"),
    (attrs.evolve(BURST, relax="relaxed"), "TYPE-1: relax is 'relaxed'"),  # type: ignore[arg-type] # as below
    (attrs.evolve(BURST, cpu_latency_us=-1), "VALUE-1: cpu_latency_us is -1"),
    (attrs.evolve(BURST, cpu_latency_us=4.5), "TYPE-1: cpu_latency_us is 4.5"),  # type: ignore[arg-type] # as below
    (attrs.evolve(BURST, name=5), "TYPE-1: profile is 5"),  # type: ignore[arg-type] # as below
    (attrs.evolve(BURST, votes=None), "TYPE-1: votes is None"),  # type: ignore[arg-type] # that is what is tested
]


@pytest.mark.parametrize(("profile", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_value_that_no_option_carries_is_refused(profile: Profile, said: str) -> None:
    """Opening a session or changing its profile raises with the name of the field, and nothing is sent."""
    bench = Bench.make()
    with pytest.raises(ProfileError, match=said):
        bench.controller.session(profile)
    assert not bench.recorder.calls
    session = bench.controller.session("burst")
    made = len(bench.recorder.calls)
    with pytest.raises(ProfileError, match=said):
        session.use(profile)
    assert len(bench.recorder.calls) == made


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_what_a_file_gives_is_right(name: str) -> None:
    """A loaded profile passes the check."""
    assert not list(wrong_values(load_profile(name)))


def test_the_whole_range_is_sent_as_it_is() -> None:
    """The largest number of an option reaches the call unchanged."""
    bench = Bench.make()
    session = bench.controller.session(with_votes(rpc_control_latency_us=2**32 - 1))
    with session.inference():
        sent = [config.fields for call in bench.recorder.calls for config in call.configs]
    assert {"rpcControlLatencyConfig": 2**32 - 1} in [dict(fields) for fields in sent]
