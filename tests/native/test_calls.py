"""Votes as native calls: the memory that the C function reads, and calls that must never be made."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.helpers import hmx, hvx, native_dcvs
from support.inside import device_of, ready_structs
from support.standin import ALWAYS, DCVS_V3, FIRST_ID, HMX_V2

from htppower import load_profile
from htppower.backends import QnnHtp
from htppower.backends.qnn import abi
from htppower.errors import VoteRejected
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.corners import VoltageCorner
from htppower.votes.native import NativeConfig
from htppower.votes.native_codes import code_name
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.standin import Standin

# Sizes and offsets of the C structs, as compiled by gcc for x86-64 and AArch64 and by mingw-w64.
LAYOUTS: list[tuple[Any, int, dict[str, int]]] = [
    (abi.Interface, 616, {"backendId": 0, "providerName": 8, "coreApiVersion": 16, "functions": 40}),
    (abi.PowerConfig, 68, {"option": 0, "dcvsV3Config": 4, "hmxV2Config": 4, "rpcPollingTimeConfig": 4}),
    (abi.STRUCTS["dcvsV3Config"], 64, {"contextId": 0, "powerMode": 12, "coreVoltageCornerMax": 60}),
    (abi.STRUCTS["hmxV2Config"], 20, {"hmxPickDefault": 0, "hmxVoltageCornerMin": 4, "hmxPerfMode": 16}),
    (abi.STRUCTS["cengConfig"], 16, {"cengVoltageCornerMin": 0, "cengPerfMode": 12}),
    (abi.STRUCTS["cengExpConfig"], 16, {"cengVoltageCornerMin": 0, "cengPerfMode": 12}),
    (abi.STRUCTS["dcvsV3ExpConfig"], 64, {"contextId": 0, "powerMode": 4, "setBusParams": 24, "busPerfMode": 60}),
    (abi.PerfInfrastructure, 40, {"infraType": 0, "createPowerConfigId": 8, "setPowerConfig": 24}),
    (abi.PlatformInfo, 24, {"numHwDevices": 8, "hwDevices": 16}),
    (abi.HardwareDevice, 40, {"deviceId": 8, "numCores": 16, "cores": 24, "deviceInfoExtension": 32}),
    (abi.CoreInfo, 24, {"coreId": 8, "coreType": 12}),
    (abi.DeviceExtension, 32, {"onChipDevice": 8}),
    (abi.OnChipDevice, 24, {"vtcmSize": 0, "socModel": 8, "signedPdSupport": 12, "dlbcSupport": 13, "arch": 16}),
    (abi.DeviceConfig, 16, {"option": 0, "customConfig": 8}),
    (abi.SocConfig, 32, {"option": 0, "at_byte_4": 4, "at_byte_8": 8}),
]  # fmt: skip


@pytest.fixture
def backend(standin: Standin) -> Iterator[QnnHtp]:
    """Yield the backend on the stand-in."""
    made = QnnHtp(standin.path)
    yield made
    made.close()


@pytest.mark.parametrize(("struct", "size", "offsets"), LAYOUTS, ids=lambda value: getattr(value, "__name__", ""))
def test_layouts(struct: Any, size: int, offsets: dict[str, int]) -> None:
    """Every struct has the size and the offsets of the C struct."""
    assert ctypes.sizeof(struct) == size
    assert {name: getattr(struct, name).offset for name in offsets} == offsets


def test_a_field_that_no_struct_has_is_refused() -> None:
    """A misspelt field is an error, and not ignored."""
    with pytest.raises(AttributeError):
        abi.power_config(native_dcvs(1, sleepLatencyUs=40))
    with pytest.raises(AttributeError):
        abi.power_config(NativeConfig("RPC_POLLING_TIME", {"rpcPolling": 1}))


def test_what_c_reads(standin: Standin, backend: QnnHtp) -> None:
    """C finds every word of a vote set at its place, in the required order, for the id of the call."""
    made = backend.create_power_config_id(0, 0)
    votes = attrs.evolve(load_profile("burst").votes, hmx_v2=hmx("SVS", "NOM", "MAX"), adaptive_polling_time_us=2000)
    backend.set_power_config(made, attrs.evolve(votes, hmx_timeout_us=500, ddr_perf_mode=True))
    (line,) = standin.sets
    assert made == FIRST_ID
    assert line.arguments == (
        f"{FIRST_ID}",
        f"1:{FIRST_ID},1,0,16,1,40,0,0,1,160,160,160,1,160,160,160",
        "5:0,384,512,65535,0",
        "2:100",
        "3:9999",
        "6:2000",
        "4:500",
        "7:1",
    )


def test_structs_are_built_once_for_equal_vote_sets(
    standin: Standin, backend: QnnHtp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal vote sets share their structs, even as different objects, and each call has its own id."""
    built: list[NativeConfig] = []
    power_config = abi.power_config

    def counted(config: NativeConfig) -> abi.PowerConfig:
        built.append(config)
        return power_config(config)

    monkeypatch.setattr(abi, "power_config", counted)
    ids = [backend.create_power_config_id(0, 0) for _ in range(3)]
    for _ in range(2):
        for made in ids:
            backend.set_power_config(made, VoteSet(hvx(), HMX_DEFAULT))
    assert len(built) == 2
    backend.set_power_config(ids[0], VoteSet(hvx(VoltageCorner.NOM)))
    assert len(built) == 3
    assert [line.power_config_id for line in standin.sets[:6]] == ids * 2
    assert [line.option(DCVS_V3)[0] for line in standin.sets[:6]] == ids * 2  # type: ignore[index]
    assert all(line.code == 0 for line in standin.sets)


def test_threads_never_share_structs(standin: Standin, backend: QnnHtp) -> None:
    """Concurrent calls with equal vote sets have their own ids."""
    standin.script(f"setPowerConfig 1 {ALWAYS} 0 500")
    ids = [backend.create_power_config_id(0, 0) for _ in range(8)]

    def vote(made: int) -> None:
        for _ in range(20):
            backend.set_power_config(made, VoteSet(hvx()))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(vote, ids))
    assert len(standin.sets) == 160
    assert all((line.option(DCVS_V3) or (0,))[0] == line.power_config_id for line in standin.sets)


def test_a_host_that_makes_vote_sets_does_not_fill_the_memory(backend: QnnHtp) -> None:
    """The number of kept structs is bounded."""
    made = backend.create_power_config_id(0, 0)
    for us in range(3000):
        backend.set_power_config(made, VoteSet(rpc_control_latency_us=us))
    assert ready_structs(backend) <= 1024


def test_no_foreign_id_reaches_the_library(standin: Standin, backend: QnnHtp) -> None:
    """0, an unknown id, a destroyed id and another backend's id are refused without a call."""
    gone = backend.create_power_config_id(0, 0)
    backend.destroy_power_config_id(gone)
    before = len(standin.trace)
    for foreign in (0, 12345, gone, 2**32 - 1):
        with pytest.raises(VoteRejected) as caught:
            backend.set_power_config(foreign, VoteSet(hvx()))
        assert (caught.value.code, caught.value.power_config_id) == (13001, foreign)
        backend.destroy_power_config_id(foreign)
    assert len(standin.trace) == before


@pytest.mark.parametrize(("device_id", "core_id"), [(2**32, 0), (0, 2**32), (-1, 0), (0, -1)])
def test_a_device_or_core_beyond_32_bits_is_refused(
    standin: Standin, backend: QnnHtp, device_id: int, core_id: int
) -> None:
    """C would cut such a number to another device's, so it is refused without a call."""
    with pytest.raises(VoteRejected, match="13001"):
        backend.create_power_config_id(device_id, core_id)
    assert standin.calls("createPowerConfigId") == []


def test_a_number_beyond_32_bits_is_refused(standin: Standin, backend: QnnHtp) -> None:
    """C would cut such a vote, so it is refused without a call."""
    made = backend.create_power_config_id(0, 0)
    with pytest.raises(ValueError, match="rpcControlLatencyConfig is 4294967296"):
        backend.set_power_config(made, VoteSet(rpc_control_latency_us=2**32))
    assert standin.sets == []


def test_two_threads_that_close_at_once(standin: Standin, backend: QnnHtp) -> None:
    """With any number of closing threads, every id is destroyed once, and no call follows the free of the device."""
    for _ in range(50):
        backend.create_power_config_id(0, 0)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: backend.close(), range(4)))
    assert len({line.power_config_id for line in standin.calls("destroyPowerConfigId")}) == 50
    assert [line.function for line in standin.trace][-53:-3] == ["destroyPowerConfigId"] * 50


@pytest.mark.parametrize("code", [13001, 13005, 1007, 1011])
def test_the_id_of_a_refused_create_is_never_used(standin: Standin, backend: QnnHtp, code: int) -> None:
    """A failed create still writes an id, which is not returned, voted on or destroyed."""
    standin.script(f"createPowerConfigId 1 1 {code} 0")
    with pytest.raises(VoteRejected) as caught:
        backend.create_power_config_id(0, 0)
    assert (caught.value.code, caught.value.function) == (code, "createPowerConfigId")
    with pytest.raises(VoteRejected, match="13001"):
        backend.set_power_config(FIRST_ID, VoteSet(hvx()))
    backend.destroy_power_config_id(FIRST_ID)
    assert standin.sets == standin.calls("destroyPowerConfigId") == []


@pytest.mark.parametrize("code", [1007, 1011, 1100, 11003, 13000, 13002, 13003, 13004, 13005, 13006])
def test_every_code_is_told(standin: Standin, backend: QnnHtp, code: int) -> None:
    """A failed call raises VoteRejected with code, name, function, id and votes, and says what to do."""
    made = backend.create_power_config_id(0, 0)
    votes = VoteSet(hvx())
    standin.script(*(f"{name} 1 1 {code} 0" for name in ("setPowerConfig", "destroyPowerConfigId")))
    with pytest.raises(VoteRejected) as caught:
        backend.set_power_config(made, votes)
    error = caught.value
    assert (error.code, error.name, error.votes, error.power_config_id) == (code, code_name(code), votes, made)
    assert str(error).startswith(
        f"setPowerConfig on power config id {made} returned {code} {code_name(code)} with DCVS_V3"
    )
    with pytest.raises(VoteRejected) as caught:
        backend.destroy_power_config_id(made)
    assert (caught.value.code, caught.value.function) == (code, "destroyPowerConfigId")
    # The library has removed the id nevertheless.
    backend.destroy_power_config_id(made)
    assert [line.code for line in standin.calls("destroyPowerConfigId")] == [code]


def test_an_interrupted_destroy_can_be_made_again(
    standin: Standin, backend: QnnHtp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C in a destroy the id is still known, so another destroy, or a close, makes the call."""
    made = [backend.create_power_config_id(0, 0) for _ in range(3)]
    destroy, interrupts = device_of(backend).destroy_id, iter([KeyboardInterrupt()])

    def interrupted(power_config_id: int) -> int:
        for error in interrupts:
            raise error
        return int(destroy(power_config_id))

    monkeypatch.setattr(device_of(backend), "destroy_id", interrupted)
    with pytest.raises(KeyboardInterrupt):
        backend.destroy_power_config_id(made[0])
    backend.close()
    assert sorted(line.power_config_id for line in standin.calls("destroyPowerConfigId")) == made


def test_an_empty_vote_set_is_an_empty_list(standin: Standin, backend: QnnHtp) -> None:
    """A set without votes is sent as an empty list, and never as NULL."""
    backend.set_power_config(backend.create_power_config_id(0, 0), VoteSet())
    (line,) = standin.sets
    assert (line.code, line.arguments) == (0, (str(FIRST_ID),))
    assert line.option(HMX_V2) is None
