"""The simulated HTP's clocks: the sum of the votes of all IDs, as HAP_power documents it."""

from __future__ import annotations

import attrs
import pytest
from support.helpers import corners, hmx, hvx, native_scalar, nothing_set

from htppower.backends import Effective, SimulatedHtp
from htppower.backends.simulated.clocks import ProcessSettings
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, HmxV2, VoltageRange
from htppower.votes.corners import VoltageCorner
from htppower.votes.options import VOTE_OPTIONS, Option
from htppower.votes.vote_set import VoteSet

AT_REST = Effective(
    core_min=16,
    core_target=16,
    core_max=16,
    bus_min=16,
    bus_target=16,
    bus_max=16,
    hmx_min=0,
    hmx_target=0,
    hmx_max=0,
    sleep_latency_us=65535,
    sleep_disable=False,
    dcvs_enable=True,
    rpc_polling_time_us=0,
    rpc_control_latency_us=0,
    adaptive_polling_time_us=0,
)
REMOVAL = hvx(VoltageCorner.DISABLE, dcvs_enable=True, sleep_latency_us=65535)


@pytest.fixture
def htp() -> SimulatedHtp:
    """Return a simulated V75 with two devices of two cores."""
    return SimulatedHtp(arch=75, devices=2, cores=2)


def vote(htp: SimulatedHtp, votes: DcvsV3 | VoteSet, device_id: int = 0, core_id: int = 0) -> int:
    """Cast votes on a new ID, and return the ID."""
    power_config_id = htp.create_power_config_id(device_id, core_id)
    revote(htp, power_config_id, votes)
    return power_config_id


def revote(htp: SimulatedHtp, power_config_id: int, votes: DcvsV3 | VoteSet) -> None:
    """Cast votes on an ID."""
    votes = VoteSet(votes) if isinstance(votes, DcvsV3) else votes
    htp.set_power_config(power_config_id, votes)


def free(core: VoltageRange, bus: VoltageRange | None = None) -> DcvsV3:
    """Return an HVX vote that lets DCVS work."""
    return hvx(dcvs_enable=True, core=core, bus=core if bus is None else bus)


def held(core: VoltageRange) -> DcvsV3:
    """Return an HVX vote that holds the clock at its target."""
    return hvx(dcvs_enable=False, core=core, bus=core)


def core(htp: SimulatedHtp) -> tuple[int, int, int]:
    """Return min, target and max of the core clock in force."""
    now = htp.effective()
    return now.core_min, now.core_target, now.core_max


def bus(htp: SimulatedHtp) -> tuple[int, int, int]:
    """Return min, target and max of the bus clock in force."""
    now = htp.effective()
    return now.bus_min, now.bus_target, now.bus_max


def hmx_clock(htp: SimulatedHtp) -> tuple[int, int, int]:
    """Return min, target and max of the HMX clock in force."""
    now = htp.effective()
    return now.hmx_min, now.hmx_target, now.hmx_max


def test_nothing_is_voted_at_first(htp: SimulatedHtp) -> None:
    """Without an ID, and with an ID that has not voted, every clock is at rest."""
    assert htp.effective() == AT_REST
    htp.create_power_config_id(0, 0)
    assert htp.effective() == AT_REST


def test_one_clients_votes_are_in_force_when_the_call_returns(htp: SimulatedHtp) -> None:
    """A single client has min, target and max of core and bus as voted, or of one of the two."""
    power_config_id = vote(htp, free(corners("SVS2", "NOM", "TURBO"), corners("SVS", "NOM_PLUS", "TURBO_L5")))
    assert (core(htp), bus(htp)) == ((48, 96, 128), (64, 112, 149))
    revote(htp, power_config_id, nothing_set(core=corners("TURBO", "DISABLE", "TURBO")))
    assert (core(htp), bus(htp), hmx_clock(htp)) == ((16, 16, 16), (64, 112, 149), (0, 0, 0))


def test_the_largest_min_and_target_win(htp: SimulatedHtp) -> None:
    """Min is the largest min and target the largest target, each over all clients."""
    vote(htp, free(corners("SVS", "SVS", "TURBO"), corners("SVS2", "TURBO", "TURBO")))
    vote(htp, free(corners("SVS2", "NOM", "NOM"), corners("NOM", "NOM", "NOM")))
    vote(htp, free(corners("MIN_VOLTAGE_CORNER", "MIN_VOLTAGE_CORNER", "SVS2")))
    assert core(htp)[:2] == (64, 96)
    assert bus(htp)[:2] == (96, 128)


def test_no_client_pulls_another_down(htp: SimulatedHtp) -> None:
    """A client at the lowest corners lowers nothing that another votes high."""
    vote(htp, hvx(VoltageCorner.MAX_VOLTAGE_CORNER))
    vote(htp, hvx(VoltageCorner.MIN_VOLTAGE_CORNER))
    assert core(htp) == bus(htp) == (160, 160, 160)


def test_a_cap_holds_only_alone(htp: SimulatedHtp) -> None:
    """A max counts while its client is alone; with a second client it is MAX, until that client is gone."""
    vote(htp, free(corners("SVS2", "SVS", "SVS")))
    assert core(htp)[2] == bus(htp)[2] == 64
    other = vote(htp, free(corners("SVS2", "SVS", "SVS")))
    assert core(htp)[2] == bus(htp)[2] == 160
    htp.destroy_power_config_id(other)
    assert core(htp)[2] == bus(htp)[2] == 64


def test_a_client_without_target_is_not_active(htp: SimulatedHtp) -> None:
    """A client whose targets are DISABLE moves no clock, and lifts no other client's max."""
    vote(htp, free(corners("TURBO", "DISABLE", "TURBO")))
    assert core(htp) == bus(htp) == (16, 16, 16)
    vote(htp, free(corners("SVS2", "SVS", "NOM")))
    htp.create_power_config_id(0, 0)
    assert core(htp) == bus(htp) == (48, 64, 96)


def test_a_disabled_limit_is_no_vote(htp: SimulatedHtp) -> None:
    """A min of DISABLE leaves the min to the other clients."""
    vote(htp, free(corners("DISABLE", "NOM", "TURBO")))
    assert core(htp)[:2] == (16, 96)
    vote(htp, free(corners("MIN_VOLTAGE_CORNER", "SVS", "SVS")))
    assert core(htp)[:2] == (32, 96)


@pytest.mark.parametrize(
    ("votes", "dcvs_enable"),
    [
        ([], True),
        ([held(corners("NOM", "NOM", "NOM"))], False),
        ([free(corners("SVS", "NOM", "NOM"))], True),
        ([held(corners("NOM", "NOM", "NOM")), held(corners("SVS", "SVS", "SVS"))], False),
        ([held(corners("NOM", "NOM", "NOM")), free(corners("SVS", "SVS", "NOM"))], True),
        ([held(corners("NOM", "NOM", "NOM")), free(corners("TURBO", "DISABLE", "TURBO"))], False),
    ],
)
def test_the_clock_is_held_if_every_active_client_says_so(
    htp: SimulatedHtp, votes: list[DcvsV3], dcvs_enable: bool
) -> None:
    """DCVS is off only if every active client votes it off."""
    for each in votes:
        vote(htp, each)
    assert htp.effective().dcvs_enable is dcvs_enable


def test_a_held_vote_beside_a_free_one_becomes_a_floor(htp: SimulatedHtp) -> None:
    """If another client lets DCVS work, the target of a held client is a minimum for the clock."""
    first = vote(htp, held(corners("SVS2", "TURBO", "TURBO_L5")))
    assert core(htp) == bus(htp) == (48, 128, 149)
    other = vote(htp, free(corners("SVS", "SVS", "NOM")))
    assert core(htp) == bus(htp) == (128, 128, 160)
    htp.destroy_power_config_id(first)
    assert core(htp) == bus(htp) == (64, 64, 96)
    htp.destroy_power_config_id(other)
    assert htp.effective() == AT_REST


def test_held_votes_side_by_side_are_no_floors(htp: SimulatedHtp) -> None:
    """If every client holds the clock, the min is the largest of their mins."""
    vote(htp, held(corners("SVS2", "TURBO", "TURBO")))
    vote(htp, held(corners("SVS", "NOM", "NOM")))
    assert core(htp) == bus(htp) == (64, 128, 160)


@pytest.mark.parametrize(
    ("later", "changed"),
    [
        (nothing_set(), {}),
        (nothing_set(dcvs_enable=False), {"dcvs_enable": False}),
        (nothing_set(sleep_latency_us=40), {"sleep_latency_us": 40}),
        (nothing_set(sleep_disable=False), {"sleep_disable": False}),
        (nothing_set(bus=corners("SVS", "NOM", "TURBO")), {"bus_min": 64, "bus_target": 96, "bus_max": 128}),
    ],
)
def test_only_fields_with_a_set_flag_change(htp: SimulatedHtp, later: DcvsV3, changed: dict[str, object]) -> None:
    """A second DCVS_V3 vote changes only the fields that it sets."""
    power_config_id = vote(htp, hvx(dcvs_enable=True, sleep_disable=True))
    before = htp.effective()
    assert before.sleep_disable
    revote(htp, power_config_id, later)
    assert attrs.asdict(htp.effective()) == attrs.asdict(before) | changed


def test_the_core_vote_alone_changes_core_and_following_hmx(htp: SimulatedHtp) -> None:
    """A vote on the core leaves the bus as it was; the HMX clock follows the core."""
    power_config_id = vote(htp, hvx())
    revote(htp, power_config_id, nothing_set(core=corners("NOM", "NOM", "NOM")))
    assert (core(htp), bus(htp), hmx_clock(htp)) == ((96, 96, 96), (128, 128, 128), (512, 512, 512))


def test_a_vote_is_removed_by_disable_and_65535(htp: SimulatedHtp) -> None:
    """Sleep latency 65535 with every corner DISABLE removes a client's vote, and no other vote."""
    power_config_id = vote(htp, hvx(VoltageCorner.MAX_VOLTAGE_CORNER, sleep_latency_us=40))
    other = vote(htp, free(corners("SVS2", "SVS", "NOM")))
    revote(htp, power_config_id, REMOVAL)
    assert core(htp) == (48, 64, 96)
    revote(htp, other, REMOVAL)
    assert htp.effective() == AT_REST


def test_destroying_an_id_removes_all_its_votes(htp: SimulatedHtp) -> None:
    """Clocks, HMX, sleep latency and sleep_disable of a destroyed id are gone."""
    power_config_id = vote(htp, VoteSet(hvx(sleep_disable=True), hmx("MAX")))
    assert htp.effective() != AT_REST
    htp.destroy_power_config_id(power_config_id)
    assert htp.effective() == AT_REST


def test_the_smallest_sleep_latency_wins(htp: SimulatedHtp) -> None:
    """The tolerance in force is the smallest of all clients; 65535 does not count."""
    vote(htp, hvx(sleep_latency_us=65535))
    assert htp.effective().sleep_latency_us == 65535
    vote(htp, hvx(sleep_latency_us=1000))
    quick = vote(htp, hvx(sleep_latency_us=10))
    assert htp.effective().sleep_latency_us == 10
    htp.destroy_power_config_id(quick)
    assert htp.effective().sleep_latency_us == 1000


def test_sleep_disable_stays_until_a_vote_clears_it(htp: SimulatedHtp) -> None:
    """sleep_disable stays until the same client clears it."""
    power_config_id = vote(htp, hvx(sleep_disable=True))
    revote(htp, power_config_id, hvx(VoltageCorner.SVS))
    vote(htp, hvx(sleep_disable=False))
    assert htp.effective().sleep_disable
    revote(htp, power_config_id, nothing_set(sleep_disable=False))
    assert not htp.effective().sleep_disable


@pytest.mark.parametrize(
    ("corner", "expanded"), [("SVS", 384), ("NOM", 512), ("TURBO", 640), ("MAX_VOLTAGE_CORNER", 65535), ("DISABLE", 0)]
)
@pytest.mark.parametrize("default", [None, HMX_DEFAULT])
def test_the_default_hmx_follows_the_core(htp: SimulatedHtp, default: HmxV2 | None, corner: str, expanded: int) -> None:
    """Without an HMX vote, and with pick default, the HMX clock is at the corner of the core, not of the bus."""
    vote(htp, VoteSet(hvx(core=corners(corner, corner, corner), bus=corners("SVS2", "SVS2", "SVS2")), default))
    assert hmx_clock(htp) == (expanded, expanded, expanded)


def test_an_explicit_hmx_vote_stays_until_pick_default(htp: SimulatedHtp) -> None:
    """An explicit HMX vote stays in force, whatever the core does, until pick default."""
    power_config_id = vote(htp, VoteSet(hvx(), hmx("NOM", "TUR_L2", "SUPER_TURBO")))
    assert hmx_clock(htp) == (512, 688, 720)
    revote(htp, power_config_id, hvx(VoltageCorner.SVS))
    assert hmx_clock(htp) == (512, 688, 720)
    revote(htp, power_config_id, VoteSet(hmx_v2=HMX_DEFAULT))
    assert hmx_clock(htp) == (384, 384, 384)


def test_hmx_targets_are_aggregated_by_max(htp: SimulatedHtp) -> None:
    """The HMX target is the largest of all clients, explicit or following; a max counts only for a single client."""
    vote(htp, VoteSet(hvx(), hmx("SVS", "NOM", "NOM")))
    assert hmx_clock(htp) == (384, 512, 512)
    vote(htp, hvx(VoltageCorner.TURBO))
    assert hmx_clock(htp) == (640, 640, 65535)
    vote(htp, VoteSet(hvx(), hmx("NOM", "SUPER_TURBO", "SUPER_TURBO")))
    assert hmx_clock(htp) == (640, 720, 65535)


def test_rpc_settings_act_on_the_process(htp: SimulatedHtp) -> None:
    """Polling, adaptive polling and latency are in force on every core; the last vote of any ID counts."""
    settings = VoteSet(rpc_polling_time_us=9999, adaptive_polling_time_us=1000, rpc_control_latency_us=100)
    first = vote(htp, settings)
    far = htp.effective(1, 1)
    assert far == attrs.evolve(AT_REST, **{name: value for name, value in attrs.asdict(settings).items() if value})
    vote(htp, VoteSet(rpc_polling_time_us=0, adaptive_polling_time_us=0, rpc_control_latency_us=200), 1, 0)
    assert htp.effective() == attrs.evolve(AT_REST, rpc_control_latency_us=200)
    revote(htp, first, settings)
    htp.destroy_power_config_id(first)
    assert htp.effective() == far


def test_a_control_latency_of_0_takes_nothing_back(htp: SimulatedHtp) -> None:
    """A control latency of 0 is ignored, from any ID."""
    power_config_id = vote(htp, VoteSet(rpc_control_latency_us=100))
    revote(htp, power_config_id, VoteSet(rpc_control_latency_us=0))
    vote(htp, VoteSet(rpc_control_latency_us=0))
    assert htp.effective().rpc_control_latency_us == 100


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (1, 1)])
def test_devices_and_cores_are_apart(htp: SimulatedHtp, place: tuple[int, int]) -> None:
    """A vote acts only on the core of its ID, and changes no max on another core."""
    vote(htp, free(corners("SVS2", "SVS", "NOM")))
    before = htp.effective()
    vote(htp, VoteSet(hvx(sleep_disable=True, sleep_latency_us=10), hmx()), *place)
    assert htp.effective() == before
    assert htp.effective(*place).core_target == 128


def test_an_option_without_a_simulated_effect_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting of the process that the library knows, and the simulation does not, changes nothing."""
    added = attrs.evolve(VOTE_OPTIONS[Option.RPC_POLLING_TIME], field="rpc_added_us")
    monkeypatch.setattr("htppower.backends.simulated.clocks.VOTE_OPTIONS", {Option.RPC_POLLING_TIME: added})
    assert ProcessSettings().after(native_scalar("RPC_POLLING_TIME", 7)) == ProcessSettings()
