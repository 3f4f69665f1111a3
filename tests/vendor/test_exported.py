"""Profiles exported as extension files: the vendor's own voter casts the same votes for them as our controller.

x86 shows the core and bus clocks, RPC latency and polling, and the HMX timeout. Votes on the matrix unit, on the
compression engine, in expanded corners and on the DDR are not cast there. ``--sequences N`` tries N random profiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from support.any_profiles import exportable_profiles, profiles
from support.bench import Bench

from htppower import load_profile
from htppower.backends import SimulatedHtp
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.sustain import first_us
from htppower.tools.extensions.from_profile import from_profile
from htppower.votes.clock_votes import HVX_REMOVED
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from support.voter import Voter

    from htppower.profiles.profile import Profile

RANDOM = 40
TRIES = 4
SUSTAIN_US = 300_000
# The vendor's log and our recorder name the options of one number differently.
BESIDE = {
    "rpc_control_latency": ("RPC_CONTROL_LATENCY", "rpcControlLatencyConfig", 0),
    "rpc_polling_time": ("RPC_POLLING_TIME", "rpcPollingTimeConfig", 0),
    "adaptive_polling_time": ("ADAPTIVE_POLLING_TIME", "adaptivePollingTimeConfig", 0),
    "hmx_timeout": ("HMX_TIMEOUT_INTERVAL_US", "hmxTimeoutIntervalUsConfig", SUSTAIN_US),
}
FLAGS = {
    "dcvsEnable": "setDcvsEnable",
    "sleepLatency": "setSleepLatency",
    "sleepDisable": "setSleepDisable",
    **{
        f"{clock}VoltageCorner{limit}": f"set{clock.capitalize()}Params"
        for clock in ("bus", "core")
        for limit in ("Min", "Target", "Max")
    },
}
(REMOVED,) = VoteSet(HVX_REMOVED).native(0)
UNVOTED = {name: REMOVED.fields[name] for name in ("powerMode", *FLAGS)}


@attrs.frozen
class Casts:
    """The votes of a session of two inferences.

    Attributes:
        clocks: the HVX votes in force, one after the other; each differs from the one before.
        beside: RPC latency and polling, adaptive polling and HMX timeout while raised.
    """

    clocks: tuple[dict[str, int], ...]
    beside: dict[str, int]


def in_force(votes: Iterable[Mapping[str, int]]) -> tuple[dict[str, int], ...]:
    """Return the votes in force after each of these HVX votes that changes them; an unset field stays."""
    now = UNVOTED
    found = []
    for fields in votes:
        stated = {name for name, flag in FLAGS.items() if fields[flag]} | {"powerMode"}
        after = {**now, **{name: fields[name] for name in stated}}
        if after != now:
            found.append(after)
        now = after
    return tuple(found)


def cast_by_voter(voter: Voter, profile: Profile, *, idle: bool) -> Casts:
    """Return the votes of the vendor's voter for an exported profile."""
    sustains = profile.relax is not None and first_us(profile.relax.after_inference_us) > 0
    dialog = voter.dialog(from_profile(profile).text(), tokens=1, idle_s=5 if idle and sustains else 0)
    assert not dialog.refused
    assert {call.code for call in dialog.calls} <= {0}
    assert len(dialog.executed_ms) == 2
    votes = [vote for call in dialog.calls for vote in call.votes]
    beside = {name: fields["value"] for name, fields in votes if name in BESIDE}
    clocks = in_force(fields for name, fields in votes if name == "DCVS_V3")
    return Casts(clocks, {name: beside.get(name, default) for name, (*_, default) in BESIDE.items()})


def cast_by_controller(profile: Profile, *, idle: bool) -> Casts:
    """Return the votes of our controller in the same phases."""
    bench = Bench.make(SimulatedHtp(arch=81))
    session = bench.controller.session(profile)
    with session.init():
        beside = raised_beside(bench)
    for _ in range(2):
        bench.infer(session)
    if idle:
        bench.time.advance_us(2 * SUSTAIN_US)
    with session.deinit():
        pass
    configs = (call.config("DCVS_V3") for call in bench.sets)
    casts = Casts(in_force(config.fields for config in configs if config is not None), beside)
    bench.controller.close()
    return casts


def raised_beside(bench: Bench) -> dict[str, int]:
    """Return the votes so far, except those on clocks."""
    found = {name: default for name, (*_, default) in BESIDE.items()}
    for call in bench.sets:
        for name, (option, member, _) in BESIDE.items():
            config = call.config(option)
            if config is not None:
                found[name] = config.fields[member]
    return found


def check(voter: Voter, profile: Profile, *, idle: bool) -> None:
    """Compare the votes of the vendor's voter for an exported profile with those of our controller."""
    exported = from_profile(profile)
    assert exported.lossless, exported.lost
    ours = cast_by_controller(profile, idle=idle)
    # The voter casts on its own thread. In one dialog of 200 this thread is too late, so that the votes of an inference
    # are missing; on a busy machine its timer may fire between the inferences.
    assert any(cast_by_voter(voter, profile, idle=idle) == ours for _ in range(TRIES)), (profile, ours)


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_shipped_profiles_are_cast_alike(voter: Voter, name: str) -> None:
    """From INIT over two inferences and the sustain timer to DE-INIT, each field has the same votes."""
    check(voter, load_profile(name), idle=True)


def test_random_profiles_are_cast_alike(voter: Voter, request: pytest.FixtureRequest) -> None:
    """Random profiles have the same votes too."""

    @settings(
        max_examples=request.config.getoption("--sequences", default=None) or RANDOM,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate),
        print_blob=False,
    )
    @given(exportable_profiles())
    def run(profile: Profile) -> None:
        check(voter, profile, idle=False)

    run()


def test_every_export_is_taken(reader: Voter, request: pytest.FixtureRequest) -> None:
    """The vendor's parser accepts the export of any profile, whatever is lost."""

    @settings(
        max_examples=request.config.getoption("--sequences", default=None) or RANDOM,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate),
    )
    @given(profiles())
    def run(profile: Profile) -> None:
        assert reader.accepted(from_profile(profile).text())

    run()
