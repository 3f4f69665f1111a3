"""The simulated device's link: answers after a restart, calls that rebuild it, and causes of a dead link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.helpers import hvx, native_dcvs, native_hmx, native_scalar
from support.inside import remembered_by

from htppower.backends import SimulatedHtp
from htppower.errors import BackendUnavailable, Unavailable, VoteRejected
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.simulated.link import FastRpcAnswer

POLLING = native_scalar("RPC_POLLING_TIME", 50)
AT_REST = SimulatedHtp(75, link="device").effective()


class Device:
    """A simulated device with one ID, and short names for its calls."""

    def __init__(self, **arguments: Any) -> None:
        self.htp = SimulatedHtp(75, link="device", **arguments)
        self.made = self.htp.native_create(0, 0)[1]

    def vote(self, *, hmx: bool = False) -> int:
        """Return the answer to a vote on the ID, which uses invoke."""
        return self.htp.native_set(self.made, [native_dcvs(self.made), *([native_hmx()] if hmx else [])])

    def setting(self) -> int:
        """Return the answer to a setting, which uses control."""
        return self.htp.native_set(self.made, [POLLING])

    def calls(self, names: str) -> list[int]:
        """Return the answers to calls in turn: v is a vote, s a setting, d a destroy of a new ID."""
        made = {"v": self.vote, "s": self.setting, "d": self._destroy}
        return [made[name]() for name in names]

    def _destroy(self) -> int:
        return self.htp.native_destroy(self.htp.native_create(0, 0)[1])


@pytest.mark.parametrize("names", ["vvs", "svs", "dvs"])
def test_the_next_call_rebuilds_the_link(names: str) -> None:
    """The next vote, setting or destroy answers 1007 and rebuilds the link; every later call works."""
    device = Device()
    device.htp.restart_subsystem()
    assert device.calls(names) == [1007, 0, 0]


@pytest.mark.parametrize(
    ("fastrpc", "names", "codes"),
    [
        ("gone", "ssvsv", [13006, 13006, 1007, 0, 0]),
        ("gone", "dvs", [1007, 0, 0]),
        ("crashed", "vsdvs", [13003, 13006, 13003, 13003, 13006]),
    ],
)
def test_fastrpc_decides_what_rebuilds_the_link(fastrpc: FastRpcAnswer, names: str, codes: list[int]) -> None:
    """A lost connection is rebuilt only by votes of an ID; after a crash of the process domain no call rebuilds it."""
    device = Device()
    device.htp.restart_subsystem(fastrpc=fastrpc)
    assert device.calls(names) == codes


def test_calls_without_the_link_meet_no_restart() -> None:
    """A create, an empty list, adaptive polling, and a destroy of an unknown ID answer 0 without the link."""
    device = Device()
    device.htp.restart_subsystem(fatal=True)
    code, created = device.htp.native_create(0, 0)
    adaptive = native_scalar("ADAPTIVE_POLLING_TIME", 2000)
    answers = [device.htp.native_set(created, configs) for configs in ([], [adaptive])]
    assert (code, answers, device.htp.native_destroy(99)) == (0, [0, 0], 0)
    assert device.calls("v") == [1011]


def test_a_restart_loses_every_vote_and_sends_none_again() -> None:
    """Clocks and settings are gone at once; the failed call and the votes before it are not sent again."""
    device = Device()
    device.calls("vs")
    device.htp.restart_subsystem()
    assert device.htp.effective() == AT_REST
    assert device.calls("vss") == [1007, 0, 0]
    now = device.htp.effective()
    assert (now.core_target, now.rpc_polling_time_us) == (16, 50)


def test_adaptive_polling_outlives_a_restart() -> None:
    """Adaptive polling is a setting inside the library."""
    device = Device()
    device.htp.native_set(device.made, [native_scalar("ADAPTIVE_POLLING_TIME", 2000), POLLING])
    device.htp.restart_subsystem()
    now = device.htp.effective()
    assert (now.adaptive_polling_time_us, now.rpc_polling_time_us) == (2000, 0)


def test_the_library_remembers_votes_that_the_dsp_has_lost() -> None:
    """After a restart HMX_V2 alone is accepted without effect, and DCVS_V3 alone brings no default HMX vote."""
    device = Device()
    device.vote(hmx=True)
    device.htp.restart_subsystem()
    assert device.calls("v") == [1007]
    assert device.htp.native_set(device.made, [native_hmx()]) == 0
    assert device.htp.effective() == AT_REST
    device.htp.restart_subsystem()
    assert device.calls("vv") == [1007, 0]
    now = device.htp.effective()
    assert (now.core_target, now.hmx_target) == (128, 0)
    device.vote(hmx=True)
    assert device.htp.effective().hmx_target == 640


def test_ids_outlive_a_restart() -> None:
    """The library keeps its IDs over restarts, and counts on from them."""
    device = Device(first_id=7)
    for _ in range(3):
        device.htp.restart_subsystem()
        assert device.calls("vv") == [1007, 0]
    assert device.htp.power_config_ids == (7,)
    assert device.htp.native_create(0, 0) == (0, 8)


def test_a_failed_rebuild_leaves_the_link_dead() -> None:
    """If the DSP stays down, the call answers 1011, and later calls 13003 or 13006, also after the DSP is back."""
    device = Device()
    device.htp.restart_subsystem(fatal=True)
    assert device.calls("vvsd") == [1011, 13003, 13006, 13003]
    device.htp.restart_subsystem()
    assert device.calls("vsd") == [13003, 13006, 13003]


def test_a_dsp_that_is_back_before_the_next_call_is_reached() -> None:
    """If no call was made while the DSP was down, the next call answers 1007."""
    device = Device()
    device.htp.restart_subsystem(fatal=True)
    device.htp.restart_subsystem()
    assert device.calls("vv") == [1007, 0]


def test_a_spoilt_rebuild_leaves_the_link_dead() -> None:
    """If a second call spoils the rebuild, it answers 1011, and later calls fail, although the DSP is healthy."""
    device = Device()
    device.htp.spoil_rebuild()
    assert device.calls("vs") == [0, 0]
    device.htp.restart_subsystem()
    assert device.calls("vvs") == [1011, 13003, 13006]
    device.htp.renew()
    device.made = device.htp.native_create(0, 0)[1]
    device.htp.restart_subsystem()
    assert device.calls("vv") == [1007, 0]


@pytest.mark.parametrize("fatal", [False, True])
def test_a_rebuild_takes_time(fatal: bool) -> None:
    """The call that rebuilds the link takes that long, and no other call."""
    slept: list[float] = []
    device = Device(sleep=slept.append)
    device.htp.restart_subsystem(fatal=fatal, rebuild_us=11_300_000)
    device.calls("vvs")
    assert slept == [11.3]


def test_one_13003_from_a_healthy_link() -> None:
    """``fail_next`` answers one 13003, and the same vote works after it."""
    device = Device()
    device.htp.fail_next(13003)
    assert device.calls("vv") == [13003, 0]


@pytest.mark.parametrize("code", [13003, 1007])
def test_a_failed_destroy_has_removed_the_id(code: int) -> None:
    """Votes on the ID are refused, and a second destroy answers 0; its votes stay on the DSP until a restart.

    So a session must be lowered before its ID is destroyed.
    """
    device = Device()
    device.vote()
    if code == 13003:
        device.htp.fail_next(code, "destroyPowerConfigId")
    else:
        device.htp.restart_subsystem()
    assert device.htp.native_destroy(device.made) == code
    assert (device.vote(), device.htp.native_destroy(device.made)) == (13001, 0)
    assert device.htp.power_config_ids == ()
    assert device.htp.effective().core_target == (128 if code == 13003 else 16)
    device.htp.restart_subsystem()
    assert device.htp.effective() == AT_REST


def test_what_can_not_be_meant_is_refused() -> None:
    """An impossible FastRPC answer, a negative time, and a failure of a missing link are errors."""
    device, plain = Device(), SimulatedHtp(75)
    odd: Any = "lost"
    refused: list[tuple[Callable[[], None], str]] = [
        (lambda: device.htp.restart_subsystem(fastrpc=odd), "no answer 'lost' of FastRPC; one of reset, gone, crashed"),
        (lambda: device.htp.restart_subsystem(rebuild_us=-1), "a rebuild of -1 us"),
        (lambda: plain.restart_subsystem(fastrpc="gone"), "a plain link can't do that"),
        (lambda: plain.restart_subsystem(rebuild_us=1), "a plain link can't do that"),
        (plain.spoil_rebuild, "a plain link can't do that"),
        (plain.refuse_settings, "a plain link can't do that"),
    ]
    for action, words in refused:
        with pytest.raises(ValueError, match=words):
            action()
    assert (device.calls("v"), plain.native_create(0, 0)[0]) == ([0], 0)


@pytest.mark.parametrize("death", ["fatal", "spoilt", "crashed"])
def test_renewing_mends_a_dead_link(death: str) -> None:
    """A renewal opens a new link: old IDs are gone, new IDs have other numbers, and their votes are in force."""
    device = Device()
    if death == "spoilt":
        device.htp.spoil_rebuild()
    device.htp.restart_subsystem(fatal=death == "fatal", fastrpc="crashed" if death == "crashed" else "reset")
    assert device.calls("vvs") == ([13003, 13003, 13006] if death == "crashed" else [1011, 13003, 13006])
    device.htp.restart_subsystem()
    device.htp.renew()
    assert device.htp.power_config_ids == ()
    assert device.vote() == 13001
    old, device.made = device.made, device.htp.native_create(0, 0)[1]
    assert device.made != old
    assert device.calls("vsd") == [0, 0, 0]
    assert device.htp.effective().core_target == 128


def test_renewing_a_healthy_link_takes_every_vote_back() -> None:
    """Clocks, settings and the votes left by a failed destroy are gone, and the library's memory of the IDs, too."""
    device = Device()
    device.calls("vs")
    device.htp.fail_next(13003, "destroyPowerConfigId")
    device.htp.native_destroy(device.made)
    device.made = device.htp.native_create(0, 0)[1]
    device.vote(hmx=True)
    device.htp.renew()
    assert device.htp.effective() == AT_REST
    assert remembered_by(device.htp) == {}


def test_a_renewal_fails_while_the_dsp_is_down() -> None:
    """The error has the code of deviceCreate; then every function answers 14000, until a renewal works."""
    device = Device()
    htp = device.htp
    htp.restart_subsystem(fatal=True)
    device.vote()
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match="deviceCreate of the simulated HTP returned 14001") as caught:
            htp.renew()
        assert (caught.value.reason, caught.value.code) == (Unavailable.DEVICE_CREATE_FAILED, 14001)
        for verb in (
            lambda: htp.create_power_config_id(0, 0),
            lambda: htp.set_power_config(device.made, VoteSet(hvx())),
            lambda: htp.destroy_power_config_id(device.made),
        ):
            with pytest.raises(VoteRejected, match="14000"):
                verb()
    htp.restart_subsystem()
    htp.renew()
    device.made = htp.create_power_config_id(0, 0)
    assert device.calls("vs") == [0, 0]


def test_a_second_user_keeps_the_link_dead() -> None:
    """With a second user of the library, a renewal removes the IDs without an error, and the link stays dead."""
    device = Device()
    device.htp.restart_subsystem(fatal=True)
    device.vote()
    device.htp.second_user = True
    for _ in range(2):
        device.htp.renew()
        assert device.htp.power_config_ids == ()
        device.made = device.htp.create_power_config_id(0, 0)
        assert device.calls("vsd") == [13003, 13006, 13003]
        device.htp.restart_subsystem()
    device.htp.second_user = False
    device.htp.renew()
    device.made = device.htp.create_power_config_id(0, 0)
    assert device.calls("vsd") == [0, 0, 0]
