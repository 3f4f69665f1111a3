"""The simulated HTP answers as the vendor's library does, in each of five versions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.helpers import native_ceng, native_dcvs, native_hmx, native_scalar, native_unknown

from htppower.backends import SimulatedHtp
from htppower.votes.native import NativeConfig

FUNCTIONS = ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")
WITHOUT_HMX = (68, 69, 73, 89)
WITH_HMX = (75, 79, 81, 85)
BELOW_V85 = (68, 69, 73, 75, 79, 81)
EVERY = (*BELOW_V85, 85, 89)
DCVS = native_dcvs(1)
DCVS_EXP, CENG_EXP = NativeConfig("DCVS_V3_EXP", {}), NativeConfig("CENG_EXP", {})
NO_FLAG = dict.fromkeys(("setDcvsEnable", "setSleepLatency", "setSleepDisable", "setBusParams", "setCoreParams"), 0)
OFF = {f"{clock}VoltageCorner{limit}": 16 for clock in ("bus", "core") for limit in ("Min", "Target", "Max")}
LIMITS = ("hmxVoltageCornerMin", "hmxVoltageCornerTarget", "hmxVoltageCornerMax")
FALLING = {"coreVoltageCornerMin": 160, "coreVoltageCornerTarget": 128, "coreVoltageCornerMax": 64}
RPC = ("RPC_CONTROL_LATENCY", "RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME")

# Each line: a name, the architectures, lists that are sent to a new ID, the answer.
LINES: list[tuple[str, tuple[int, ...], list[list[NativeConfig] | None], int]] = [
    ("a list of NULL", EVERY, [None], 13001),
    ("an empty list", EVERY, [[]], 0),
    ("DCVS_V3 for another id", EVERY, [[native_dcvs(2)], [native_dcvs(0)]], 13001),
    ("corners that fall", EVERY, [[native_dcvs(1, **FALLING)]], 0),
    ("an undefined corner", EVERY, [[native_dcvs(1, busVoltageCornerTarget=17)]], 0),
    ("latency out of range", EVERY, [[native_dcvs(1, sleepLatency=us)] for us in (0, 65536)], 0),
    ("power mode 0", EVERY, [[native_dcvs(1, powerMode=0)]], 0),
    ("every set flag 0", EVERY, [[native_dcvs(1, **NO_FLAG)]], 0),
    ("every set flag 0 counts for HMX", WITH_HMX, [[native_dcvs(1, **NO_FLAG), native_hmx()]], 0),
    ("every corner DISABLE counts for HMX", WITH_HMX, [[native_dcvs(1, **OFF), native_hmx()]], 0),
    ("HMX_V2 where there is none", WITHOUT_HMX, [[DCVS, native_hmx()]], 13004),
    ("HMX_V2 gate comes first", WITHOUT_HMX, [[native_hmx()], [native_hmx(hmxPerfMode=256)]], 13004),
    ("HMX_V2 gate before its corners", WITHOUT_HMX, [[DCVS, native_hmx(hmxVoltageCornerMin=1)]], 13004),
    ("HMX_V2 without DCVS_V3", WITH_HMX, [[native_hmx()], [native_hmx(hmxPickDefault=1)]], 13001),
    ("HMX_V2 before DCVS_V3", WITH_HMX, [[native_hmx(), DCVS]], 13001),
    ("HMX_V2 after DCVS_V3", WITH_HMX, [[DCVS, native_hmx()], [DCVS, native_hmx(hmxPickDefault=1)]], 0),
    ("HMX_V2 legacy", WITH_HMX, [[DCVS, native_hmx(**{at: n})] for at in LIMITS for n in (1, 128, 255)], 13001),
    ("HMX_V2 legacy, default", (75,), [[DCVS, native_hmx(hmxPickDefault=1, **{at: 128})] for at in LIMITS], 13001),
    ("HMX_V2 DISABLE and expanded", WITH_HMX, [[DCVS, native_hmx(**{at: n})] for at in LIMITS for n in (0, 256)], 0),
    ("HMX_V2 perf mode above 255", WITH_HMX, [[DCVS, native_hmx(hmxPerfMode=n)] for n in (256, 2**31 - 1)], 13001),
    ("HMX_V2 perf mode", WITH_HMX, [[DCVS, native_hmx(hmxPerfMode=n)] for n in (255, 2**31, 2**32 - 1)], 0),
    ("RPC values", EVERY, [[native_scalar(option, n)] for option in RPC for n in (0, 1, 10000, 2**32 - 1)], 0),
    ("HMX timeout", EVERY, [[native_scalar("HMX_TIMEOUT_INTERVAL_US", us)] for us in (100, 1_000_000)], 0),
    ("HMX timeout out", EVERY, [[native_scalar("HMX_TIMEOUT_INTERVAL_US", us)] for us in (0, 99, 1_000_001)], 13001),
    ("DDR_PERF_MODE", EVERY, [[DCVS, native_scalar("DDR_PERF_MODE", on)] for on in (0, 1)], 13004),
    ("CENG where there is none", WITHOUT_HMX, [[native_ceng()], [DCVS, native_ceng()]], 13004),
    ("CENG without DCVS_V3", WITH_HMX, [[native_ceng()], [native_ceng(), DCVS]], 13001),
    ("CENG after DCVS_V3", WITH_HMX, [[DCVS, native_ceng()]], 0),
    ("CENG perf mode above 255", WITH_HMX, [[DCVS, native_ceng(256)]], 0),
    ("expanded", BELOW_V85, [[DCVS_EXP], [CENG_EXP], [DCVS, CENG_EXP], [DCVS_EXP, DCVS]], 13004),
    ("expanded after plain, clocks", BELOW_V85, [[DCVS, DCVS_EXP], [DCVS, native_scalar(RPC[0]), DCVS_EXP]], 13001),
    ("expanded after plain, CENG", (75, 79, 81), [[DCVS, native_ceng(), CENG_EXP]], 13001),
    ("unknown", EVERY, [[native_unknown(0)], [native_unknown(11)], [native_unknown(2**31 - 1)]], 13002),
]


def fresh(arch: int = 75, platform: str = "linux") -> tuple[SimulatedHtp, int]:
    """Return a simulated HTP with one ID."""
    simulated = SimulatedHtp(arch=arch, platform=platform)
    return simulated, simulated.native_create(0, 0)[1]


@pytest.mark.parametrize(("soc", "arch"), [(57, 75), (69, 79), (87, 81), ("SM8350", 68), (None, 75)])
def test_a_soc_model_sets_the_architecture(soc: int | str | None, arch: int) -> None:
    """A device for a SoC model has its architecture; without a SoC it is V75."""
    assert SimulatedHtp(soc_model=soc).platform.arch == arch


@pytest.mark.parametrize("first_id", [1, 2**31 - 1, 4_000_000_000])
def test_ids_are_opaque_and_count_up(first_id: int) -> None:
    """IDs go up by one from any base, also above 2**31, and each can be voted on."""
    simulated = SimulatedHtp(arch=75, first_id=first_id)
    created = [simulated.native_create(0, 0) for _ in range(3)]
    assert created == [(0, first_id), (0, first_id + 1), (0, first_id + 2)]
    assert all(simulated.native_set(made, [native_dcvs(made)]) == 0 for _, made in created)


@pytest.mark.parametrize(("device_id", "core_id"), [(1, 0), (0, 1), (7, 7), (-1, 0), (0, -1)])
def test_create_on_an_unknown_device_or_core(device_id: int, core_id: int) -> None:
    """The answer is 13001, but an ID is written; it can't be voted on, and is not used again."""
    simulated = SimulatedHtp(arch=75)
    code, written = simulated.native_create(device_id, core_id)
    assert (code, written) == (13001, 1)
    assert simulated.native_set(written, [native_dcvs(written)]) == 13001
    assert simulated.native_create(0, 0) == (0, 2)


def test_a_refused_id_is_refused_by_the_first_destroy() -> None:
    """The ID written by a refused create answers 13001 to its first destroy, and 0 after that."""
    simulated = SimulatedHtp(arch=75)
    _, written = simulated.native_create(0, 7)
    assert [simulated.native_destroy(written) for _ in range(3)] == [13001, 0, 0]


LEGACY_HMX = [DCVS, native_hmx(hmxVoltageCornerMin=1)]
# Each line: a list, the architecture, and the answers of QAIRT 2.47, 2.48, 2.49, 2.50 and 2.51.
BY_VERSION: list[tuple[str, list[NativeConfig], int, tuple[int, ...]]] = [
    ("legacy corner", LEGACY_HMX, 75, (0, 0, 0, 13001, 13001)),
    ("perf mode 256", [DCVS, native_hmx(hmxPerfMode=256)], 81, (0, 0, 0, 13001, 13001)),
    ("HMX on V89", [DCVS, native_hmx()], 89, (13004, 13004, 13004, 0, 13004)),
    ("DCVS_V3_EXP", [DCVS_EXP], 75, (13002, 13004, 13004, 13004, 13004)),
    ("CENG_EXP", [CENG_EXP], 68, (13002, 13004, 13004, 13004, 13004)),
    ("both forms", [DCVS, DCVS_EXP], 79, (13002, 13001, 13001, 13001, 13001)),
    ("CENG", [DCVS, native_ceng()], 75, (0, 0, 0, 0, 0)),
    ("one above the highest", [native_unknown(11)], 81, (13002, 13002, 13002, 13002, 13002)),
]


@pytest.mark.parametrize(
    ("configs", "arch", "answers"), [line[1:] for line in BY_VERSION], ids=[line[0] for line in BY_VERSION]
)
def test_versions_of_the_library_differ(configs: list[NativeConfig], arch: int, answers: tuple[int, ...]) -> None:
    """Each version gives the answer measured on it."""
    given = []
    for version in ("2.47", "2.48.40", "2.49", "2.50.40", "2.51.0"):
        simulated = SimulatedHtp(arch, library_version=version)
        given.append(simulated.native_set(simulated.native_create(0, 0)[1], configs))
    assert tuple(given) == answers


def test_a_version_that_was_not_measured_is_refused() -> None:
    """The error names the versions that were measured."""
    with pytest.raises(ValueError, match=r"no library version '2\.46'; one of 2\.47, 2\.48, 2\.49, 2\.50, 2\.51"):
        SimulatedHtp(75, library_version="2.46")


def test_every_destroy_is_answered_0() -> None:
    """Destroying an ID, a second time too, an unknown ID or 0 is answered 0."""
    simulated, made = fresh()
    assert [simulated.native_destroy(number) for number in (made, made, 12345, 0)] == [0, 0, 0, 0]
    assert simulated.power_config_ids == ()


def test_a_destroyed_unknown_or_0_id_takes_no_vote() -> None:
    """Setting votes on a destroyed ID, an unknown ID or 0 is answered 13001."""
    simulated, made = fresh()
    simulated.native_destroy(made)
    assert [simulated.native_set(number, [native_dcvs(number)]) for number in (made, 12345, 0)] == [13001] * 3


def test_2000_ids_at_once() -> None:
    """2000 IDs exist at once, and no number is used again after its destroy."""
    simulated = SimulatedHtp(arch=75)
    numbers = {simulated.native_create(0, 0)[1] for _ in range(2000)}
    assert len(numbers) == 2000
    assert all(simulated.native_set(number, [native_dcvs(number)]) == 0 for number in numbers)
    assert all(simulated.native_destroy(number) == 0 for number in numbers)
    assert simulated.native_create(0, 0)[1] not in numbers


def test_closing_frees_every_id() -> None:
    """Once the device is freed, its IDs are gone."""
    simulated, made = fresh()
    simulated.close()
    assert simulated.native_set(made, [native_dcvs(made)]) == 13001
    simulated.close()


@pytest.mark.parametrize(("archs", "lists", "code"), [line[1:] for line in LINES], ids=[line[0] for line in LINES])
def test_the_answer_to_a_list(archs: tuple[int, ...], lists: list[list[NativeConfig] | None], code: int) -> None:
    """Every list of the table is answered with its code, on each of its architectures."""
    for arch in archs:
        for configs in lists:
            simulated, made = fresh(arch)
            assert simulated.native_set(made, configs) == code, (arch, configs)


def test_a_set_is_not_atomic() -> None:
    """Options are applied in list order up to the wrong one; the rest is left out."""
    simulated, made = fresh()
    bad = native_hmx(hmxVoltageCornerMin=128, hmxVoltageCornerTarget=720)
    assert simulated.native_set(made, [native_dcvs(made), bad, native_scalar("RPC_POLLING_TIME", 9999)]) == 13001
    effective = simulated.effective()
    assert (effective.core_target, effective.hmx_target, effective.rpc_polling_time_us) == (128, 640, 0)


def test_the_dcvs_vote_that_hmx_needs() -> None:
    """An HMX_V2 vote needs a DCVS_V3 vote of its own ID, also from an earlier call; another ID's does not count."""
    simulated, made = fresh()
    _, other = simulated.native_create(0, 0)
    assert simulated.native_set(other, [native_dcvs(other)]) == 0
    assert simulated.native_set(made, [native_hmx()]) == 13001
    assert simulated.native_set(other, [native_hmx()]) == 0


@pytest.mark.parametrize("option", RPC)
def test_qnx_has_no_rpc_votes(option: str) -> None:
    """On QNX an RPC vote is answered like any other option that the platform lacks."""
    simulated, made = fresh(75, "qnx")
    assert simulated.native_set(made, [native_scalar(option)]) == 13004


def test_8_threads_in_turn() -> None:
    """300 times create, set and destroy from each of 8 threads in turn raise no error and leave no ID."""
    simulated = SimulatedHtp(arch=75)
    turn = threading.Lock()

    def rounds(_: int) -> set[int]:
        codes = set()
        for _ in range(300):
            with turn:
                code, made = simulated.native_create(0, 0)
            with turn:
                codes |= {code, simulated.native_set(made, [native_dcvs(made), native_hmx()])}
            with turn:
                codes |= {simulated.native_destroy(made)}
        return codes

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(rounds, range(8))) == {0}
    assert simulated.power_config_ids == ()
    assert (simulated.native_create(0, 0), simulated.overlaps) == ((0, 2401), 0)
