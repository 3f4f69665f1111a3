"""The echo: the votes that the vendor's library logs are the votes of the profile file, field by field.

The expected numbers come from the YAML text and the tables below, and not from the code under test.
"""

from __future__ import annotations

import copy
import functools
import logging
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import yaml
from support.helpers import enumerators
from support.shipped import shipped_folder
from support.vendorlib import SOC_OF_ARCHITECTURE, decoded, skip_unknown_soc

from htppower import VoteRejected, load_profile, profile_names
from htppower.backends import QnnHtp
from htppower.control.plans.plans import Missing, Planner
from htppower.rules.platforms import platform_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from htppower.votes.vote_set import VoteSet

CORNERS = enumerators(
    "",
    "DISABLE 16 MIN_VOLTAGE_CORNER 32 SVS2 48 SVS 64 SVS_PLUS 80 NOM 96 NOM_PLUS 112 TURBO 128 TURBO_PLUS 144 "
    "TURBO_L2 146 TURBO_L3 147 TURBO_L4 148 TURBO_L5 149 MAX_VOLTAGE_CORNER 160",
)
EXPANDED = enumerators(
    "",
    "DISABLE 0 MIN 256 MIN_SVS 304 LOW_SVS_D3 306 LOW_SVS_D2_1 307 LOW_SVS_D2 308 LOW_SVS_D1_1 310 LOW_SVS_D1 312 "
    "LOW_SVS_D0 316 LOW_SVS 320 LOW_SVS_P1 328 LOW_SVS_L0 332 LOW_SVS_L1 336 LOW_SVS_L2 352 SVS 384 SVS_L0 400 "
    "SVS_L1 448 SVS_L2 480 NOM 512 NOM_L0 544 NOM_L1 576 NOM_L2 592 TUR 640 TUR_L0 656 TUR_L1 672 TUR_L2 688 "
    "TUR_L3 704 TUR_L4 708 TUR_L5 712 SUPER_TURBO 720 SUPER_TURBO_NO_CPR 736 MAX 65535 "
    # New in SDK 2.50.
    "RET 272 LOW_SVS_D3_0 305 LOW_SVS_D1_2 309 LOW_SVS_D1_0 311 LOW_SVS_D0_1 314 LOW_SVS_D0_0 315 SVS_L0_1 401 "
    "SVS_L0_2 402 SVS_L2_0 481 NOM_L0_0 545 NOM_L3 608 TUR_L1_0 673 TUR_L1_1 674 TUR_L1_2 675 TUR_L3_0 705 "
    "TUR_L3_1 706 TUR_L3_2 707 DEFINED_MAX 736",
)
POWER_MODES = enumerators(
    "",
    "ADJUST_UP_DOWN 1 ADJUST_ONLY_UP 2 POWER_SAVER 4 POWER_SAVER_AGGRESSIVE 8 PERFORMANCE 16 DUTY_CYCLE 32",
)
PERF_MODES = {"HIGH": 0, "LOW": 1, **{f"HIGH_D{step}": step + 1 for step in range(1, 16)}, "MAX": 255}
LIMITS = ("Min", "Target", "Max")
SCALARS = (
    ("rpc_control_latency_us", "rpc_control_latency"),
    ("rpc_polling_time_us", "rpc_polling_time"),
    ("adaptive_polling_time_us", "adaptive_polling_time"),
    ("hmx_timeout_us", "hmx_timeout"),
)
# Votes in expanded corners are new in the HTP API of QAIRT 2.48.
NEW_IN = (5, 48, 0)
NEW_OPTIONS = frozenset({"DCVS_V3_EXP", "CENG_EXP"})
UNSUPPORTED_CONFIG = 13002
PROFILES = tuple(name for name in profile_names() if name != "system_settings")
STATES = ("relaxed", "relaxed_up_down", "released", "released_up_down", "extreme_released")


@functools.cache
def _text_of(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


def _votes_of(path: Path) -> dict[str, Any]:
    return copy.deepcopy(_text_of(path)["votes"])


def _corners(at: Any, numbers: dict[str, int]) -> list[int]:
    return [numbers[at if isinstance(at, str) else at[limit.lower()]] for limit in LIMITS]


def expected(votes: dict[str, Any], power_config_id: int, architecture: int) -> list[tuple[str, dict[str, int]]]:
    """Return the decoded votes that the library must log for a file, on an architecture.

    For votes in expanded corners it logs only their presence. If it has none, the nearest plain vote is sent.
    """
    dcvs = votes["dcvs_v3"]
    own = {"contextId": power_config_id}
    if dcvs == "unset" and architecture < 85:
        dcvs = _plain(votes["dcvs_v3_exp"])
    found = [("DCVS_V3_EXP", own) if dcvs == "unset" else ("DCVS_V3", _of_dcvs(dcvs, power_config_id))]
    hmx = votes["hmx_v2"]
    if hmx != "unset" and 75 <= architecture < 89:
        given = (
            {"min": "DISABLE", "target": "DISABLE", "max": "DISABLE", "perf_mode": "HIGH"} if hmx == "default" else hmx
        )
        found.append(("HMX_V2", {**own, **_of_clock("hmx", given, EXPANDED)}))
    if "ceng" in votes and 75 <= architecture < 89:
        found.append(("CENG", {**own, **_of_clock("ceng", votes["ceng"], CORNERS)}))
    if "ceng_exp" in votes and architecture == 85:
        found.append(("CENG_EXP", own))
    return [*found, *_settings(votes)]


def _plain(dcvs: dict[str, Any]) -> dict[str, Any]:
    """Return an HVX vote in expanded corners with the lowest plain corners that are not below them."""

    def plain(at: Any) -> Any:
        return PLAIN_CORNERS[at] if isinstance(at, str) else {limit: PLAIN_CORNERS[at[limit]] for limit in at}

    return {**dcvs, "dcvs_enable": True, "bus": plain(dcvs["bus"]), "core": plain(dcvs["core"])}


def _settings(votes: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
    return [(logged, {"value": votes[name]}) for name, logged in SCALARS if votes[name] != "unset"]


def _of_clock(clock: str, given: dict[str, Any], numbers: dict[str, int]) -> dict[str, int]:
    corners = zip(LIMITS, _corners(given, numbers), strict=True)
    explicit = {f"{clock}VoltageCorner{limit}": corner for limit, corner in corners}
    return {**explicit, f"{clock}PerfMode": PERF_MODES[given["perf_mode"]]}


def _of_dcvs(dcvs: dict[str, Any], power_config_id: int) -> dict[str, int]:
    fields: dict[str, int] = {"contextId": power_config_id, "powerMode": POWER_MODES[dcvs["power_mode"]]}
    for key, name in (
        ("dcvs_enable", "DcvsEnable"),
        ("sleep_latency_us", "SleepLatency"),
        ("sleep_disable", "SleepDisable"),
    ):
        given = dcvs[key] != "unset"
        fields[f"set{name}"] = int(given)
        fields[name[0].lower() + name[1:]] = int(dcvs[key]) if given else 0
    for clock in ("bus", "core"):
        fields[f"set{clock.capitalize()}Params"] = 1
        for limit, corner in zip(LIMITS, _corners(dcvs[clock], CORNERS), strict=True):
            fields[f"{clock}VoltageCorner{limit}"] = corner
    return fields


class Echo:
    """The library on one architecture, with its log of the votes on one id."""

    def __init__(self, backend: QnnHtp, architecture: int, caplog: pytest.LogCaptureFixture) -> None:
        self.architecture = architecture
        self.backend = backend
        self.planner = Planner(platform_of(arch=architecture), Missing(), strict=False)
        self._caplog = caplog
        self._id = backend.create_power_config_id(0, 0)

    def close(self) -> None:
        """Destroy the id."""
        self.backend.destroy_power_config_id(self._id)

    def check(self, votes: VoteSet, file: dict[str, Any]) -> None:
        """Cast the votes and compare the log with the file; a version without one of the options refuses them."""
        self._caplog.clear()
        wanted = expected(file, self._id, self.architecture)
        api = dict(self.backend.describe().versions)["htp_api"]
        if tuple(map(int, api.split("."))) < NEW_IN and NEW_OPTIONS.intersection(option for option, _ in wanted):
            with pytest.raises(VoteRejected) as refused:
                self.backend.set_power_config(self._id, votes)
            assert refused.value.code == UNSUPPORTED_CONFIG
            return
        self.backend.set_power_config(self._id, votes)
        assert decoded(self._caplog.records) == wanted


@pytest.fixture(params=SOC_OF_ARCHITECTURE, ids="V{}".format, scope="module")
def backend(vendors_library: Path, request: pytest.FixtureRequest) -> Iterator[tuple[QnnHtp, int]]:
    """Yield the library on each architecture with a full log, and the architecture."""
    with pytest.MonkeyPatch.context() as patch, skip_unknown_soc():
        # The level is read when the library is opened.
        patch.setattr(logging.getLogger("htppower.qnn"), "level", logging.DEBUG)
        made = QnnHtp(vendors_library, SOC_OF_ARCHITECTURE[request.param])
    yield made, request.param
    made.close()


@pytest.fixture
def echo(backend: tuple[QnnHtp, int], caplog: pytest.LogCaptureFixture) -> Iterator[Echo]:
    """Yield the echo with a full log."""
    caplog.set_level(logging.DEBUG, "htppower.qnn")
    made = Echo(*backend, caplog)
    yield made
    made.close()


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_arrives_as_its_file_says(echo: Echo, name: str) -> None:
    """Every field of every shipped profile reaches the library, in the required order."""
    plan = echo.planner.plan(load_profile(name))
    votes = _votes_of(shipped_folder() / f"{name}.yaml")
    # Without a device, every architecture refuses the DDR performance mode.
    echo.check(attrs.evolve(plan.raised, ddr_perf_mode=None), {**votes, "ddr_perf_mode": "unset"})


@pytest.mark.parametrize("name", PROFILES)
def test_every_power_state_arrives_as_its_file_says(echo: Echo, name: str) -> None:
    """Every field of the power states of a profile reaches the library."""
    profile = load_profile(name)
    assert profile.relax is not None
    plan = echo.planner.plan(profile)
    for state, votes in ((profile.relax.to, plan.lowered), (profile.relax.after_deinit_to, plan.after_deinit)):
        assert state.name in STATES
        echo.check(votes, _votes_of(shipped_folder() / "states" / f"{state.name}.yaml"))


def _override(tmp_path: Path, text: str) -> tuple[Path, dict[str, Any]]:
    """Write a profile that overrides burst; return it and the resulting votes."""
    states = tmp_path / "states"
    states.mkdir()
    # Its power state clears sleep_disable, which an override may set (rule DCVS-4).
    awake = "state: awake\nextends: relaxed\nvotes: {dcvs_v3: {sleep_disable: false}}\n"
    (states / "awake.yaml").write_text(awake, encoding="utf-8")
    path = tmp_path / "mine.yaml"
    mine = f"extends: burst\nprofile: mine\nvotes: {text}\nrelax: {{to: awake, after_deinit_to: awake}}\n"
    path.write_text(mine, encoding="utf-8")
    votes = _votes_of(shipped_folder() / "burst.yaml")
    for key, value in yaml.safe_load(text).items():
        votes[key] = {**votes[key], **value} if key == "dcvs_v3" and value != "unset" else value
    return path, votes


# The plain corners for the expanded corners below, by hand.
PLAIN_CORNERS = {"NOM": "NOM", "NOM_L0": "NOM_PLUS", "TUR_L1": "TURBO_PLUS", "TUR_L3": "TURBO_L3"}

OVERRIDES = {
    "explicit HMX": "{hmx_v2: {min: SVS, target: NOM_L1, max: TUR_L2, perf_mode: LOW}}",
    "explicit HMX at the top": "{hmx_v2: {min: MAX, target: MAX, max: MAX, perf_mode: MAX}}",
    "HMX unset": "{hmx_v2: unset}",
    "RPC latency": "{rpc_control_latency_us: 4321}",
    "no polling": "{rpc_polling_time_us: 0}",
    "polling": "{rpc_polling_time_us: 1234}",
    "RPC unset": "{rpc_control_latency_us: unset, rpc_polling_time_us: unset}",
    "adaptive polling": "{adaptive_polling_time_us: 2500}",
    "HMX timeout": "{hmx_timeout_us: 123456}",
    "CENG": "{ceng: {min: SVS, target: NOM_PLUS, max: TURBO_L2, perf_mode: HIGH_D4}}",
    "expanded CENG": "{ceng_exp: {min: SVS, target: NOM_L1, max: TUR_L2, perf_mode: HIGH_D4}}",
    "expanded": (
        "{dcvs_v3: unset, ceng: {min: SVS, target: SVS, max: NOM, perf_mode: LOW},"
        " dcvs_v3_exp: {power_mode: PERFORMANCE, sleep_latency_us: 40, sleep_disable: false,"
        " bus: {min: NOM, target: TUR_L1, max: TUR_L3}, core: NOM_L0, core_perf_mode: HIGH_D3, bus_perf_mode: LOW}}"
    ),
    "DCVS on, three corners": "{dcvs_v3: {dcvs_enable: true, core: {min: SVS2, target: NOM_PLUS, max: TURBO_L3}}}",
    "sleep disabled": "{dcvs_v3: {sleep_disable: true}}",
    "everything": (
        "{dcvs_v3: {dcvs_enable: true, power_mode: DUTY_CYCLE, sleep_latency_us: 65535, sleep_disable: false,"
        " bus: {min: MIN_VOLTAGE_CORNER, target: SVS_PLUS, max: TURBO_PLUS},"
        " core: {min: DISABLE, target: TURBO_L2, max: TURBO_L5}},"
        " hmx_v2: {min: MIN_SVS, target: LOW_SVS_D2_1, max: SUPER_TURBO_NO_CPR, perf_mode: HIGH_D15},"
        " rpc_control_latency_us: 1, rpc_polling_time_us: 1, adaptive_polling_time_us: 1, hmx_timeout_us: 1000000}"
    ),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_overrides_arrive_as_their_file_says(echo: Echo, tmp_path: Path, case: str) -> None:
    """Explicit HMX votes, RPC settings, adaptive polling and DCVS fields of a user's file reach the library."""
    path, votes = _override(tmp_path, OVERRIDES[case])
    echo.check(echo.planner.plan(load_profile(path)).raised, votes)


@pytest.mark.parametrize("corner", EXPANDED)
def test_every_expanded_corner_arrives(echo: Echo, tmp_path: Path, corner: str) -> None:
    """The library decodes the number of every expanded corner, on every architecture with HMX votes."""
    path, votes = _override(
        tmp_path, f"{{hmx_v2: {{min: {corner}, target: {corner}, max: {corner}, perf_mode: HIGH}}}}"
    )
    echo.check(echo.planner.plan(load_profile(path)).raised, votes)
