"""The ledger against the simulated HTP, with random votes, failures and restarts."""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.helpers import hmx
from support.ledgers import Known

from htppower.backends import SimulatedHtp
from htppower.errors import VoteRejected
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, VoltageRange
from htppower.votes.corners import PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

RANGES = st.builds(VoltageRange, *[st.sampled_from(VoltageCorner)] * 3)
HVX_VOTES = st.builds(
    DcvsV3,
    dcvs_enable=st.sampled_from([None, True, False]),
    power_mode=st.sampled_from(PowerMode),
    sleep_latency_us=st.sampled_from([None, 10, 40, 65535]),
    sleep_disable=st.sampled_from([None, True, False]),
    bus=st.none() | RANGES,
    core=st.none() | RANGES,
)
HMX_VOTES = st.sampled_from([None, HMX_DEFAULT, hmx("NOM"), hmx("SVS", "TUR", "MAX")])
SCALARS = {
    "rpc_control_latency_us": st.sampled_from([None, 0, 100, 200]),
    "rpc_polling_time_us": st.sampled_from([None, 0, 9999]),
    "adaptive_polling_time_us": st.sampled_from([None, 0, 1000]),
    "hmx_timeout_us": st.sampled_from([None, 100, 300_000]),
}
VOTE_SETS = st.builds(VoteSet, dcvs_v3=HVX_VOTES, hmx_v2=HMX_VOTES, **SCALARS) | st.builds(VoteSet, **SCALARS)
# How many votes of a call are applied before it fails. None: it succeeds. "restart": the DSP restarts before it.
MISHAPS = st.sampled_from([None, None, 0, 1, 2, 3, 4, 5, "restart"])


def try_to_cast(known: Known, htp: SimulatedHtp, power_config_id: int, wanted: VoteSet) -> bool:
    """Send the difference to the simulated HTP, record the result, and return whether the set is in force."""
    votes = known.difference(wanted)
    known.sending(votes)
    try:
        htp.set_power_config(power_config_id, votes)
    except VoteRejected as error:
        if error.code != 13006:
            raise
        return False
    known.sent(votes)
    return True


@examples(90)
@given(st.lists(st.tuples(VOTE_SETS, MISHAPS), max_size=6), VOTE_SETS)
def test_what_is_in_force_is_the_last_set_and_nothing_else(
    steps: list[tuple[VoteSet, int | str | None]], last: VoteSet
) -> None:
    """After any history, a successful call leaves the same votes in force as it would on a fresh id."""
    htp, known = SimulatedHtp(arch=81), Known()
    made = htp.create_power_config_id(0, 0)
    for wanted, mishap in steps:
        if mishap == "restart":
            htp.restart_subsystem()
            assert htp.native_set(made, []) == 1007
            known.own.forget()
            known.process.forget()
        elif isinstance(mishap, int):
            htp.fail_next(13006, applied=mishap)
        try_to_cast(known, htp, made, wanted)
    while not try_to_cast(known, htp, made, last):
        pass
    fresh = SimulatedHtp(arch=81)
    fresh.set_power_config(fresh.create_power_config_id(0, 0), last)
    # A control latency can't be reset: without a new value the old one stays in force.
    latency_us = last.rpc_control_latency_us or htp.effective().rpc_control_latency_us
    assert htp.effective() == attrs.evolve(fresh.effective(), rpc_control_latency_us=latency_us)
