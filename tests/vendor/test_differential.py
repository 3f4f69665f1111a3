"""The differential: the simulated HTP gives the same code as the vendor's library to every call.

The sequences create, set and destroy one to three ids, with options that are valid or not, in any order, on ids that
are alive, destroyed, refused, unknown or 0. If the two differ, the simulated HTP is wrong.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.helpers import (
    native_ceng,
    native_ceng_exp,
    native_dcvs,
    native_dcvs_exp,
    native_hmx,
    native_scalar,
    native_unknown,
)
from support.vendorlib import SOC_OF_ARCHITECTURE, RawClient, skip_unknown_soc

from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import INVALID_INPUT, SUCCESS, UNSUPPORTED, UNSUPPORTED_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from htppower.votes.native import NativeConfig

SEQUENCES = 500
SLOTS = 3
UINT32 = st.integers(0, 2**32 - 1)
CORNERS = st.sampled_from([16, 32, 48, 64, 80, 96, 112, 128, 144, 146, 149, 160]) | UINT32
EXPANDED = st.sampled_from([0, 256, 304, 384, 512, 640, 736, 65535]) | st.integers(1, 300) | UINT32
SCALARS = (
    "RPC_CONTROL_LATENCY",
    "RPC_POLLING_TIME",
    "ADAPTIVE_POLLING_TIME",
    "HMX_TIMEOUT_INTERVAL_US",
    "DDR_PERF_MODE",
)
VALUES = st.sampled_from([0, 1, 99, 100, 9999, 10_000, 1_000_000, 1_000_001]) | UINT32
LIMITS = ("Min", "Target", "Max")


@attrs.frozen
class Id:
    """The id of a step: the last one that a create has put in a slot, refused or not, or an unknown one."""

    slot: int | None = None
    other: int = 0


@attrs.frozen
class Option:
    """An option; an HVX vote has its own context id: the same as the call's, or another."""

    config: NativeConfig
    context: Id | None = None


@attrs.frozen
class Create:
    """A createPowerConfigId into a slot."""

    slot: int
    device_id: int
    core_id: int


@attrs.frozen
class Set:
    """A setPowerConfig; None is the NULL list."""

    id: Id
    options: tuple[Option, ...] | None


@attrs.frozen
class Destroy:
    """A destroyPowerConfigId."""

    id: Id


Step = Create | Set | Destroy

ids = st.builds(Id, st.integers(0, SLOTS - 1)) | st.builds(Id, st.none(), st.just(0) | UINT32)
own_ids = st.builds(Id, st.integers(0, SLOTS - 1))
flags = st.sampled_from([0, 1]) | UINT32
dcvs = st.builds(
    lambda fields, context: Option(native_dcvs(0, **fields), context),
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("setDcvsEnable", "dcvsEnable", "setSleepLatency", "setSleepDisable"), flags),
            **dict.fromkeys(("sleepDisable", "setBusParams", "setCoreParams"), flags),
            "powerMode": st.sampled_from([0, 1, 2, 4, 8, 16, 32]) | UINT32,
            "sleepLatency": VALUES,
            **{f"{clock}VoltageCorner{limit}": CORNERS for clock in ("bus", "core") for limit in LIMITS},
        },
    ),
    st.none() | st.none() | st.none() | ids,
)
perf_modes = st.sampled_from([0, 1, 16, 17, 254, 255, 256, 2**31 - 1, 2**31]) | UINT32
hmx = st.builds(
    lambda fields: Option(native_hmx(**fields)),
    st.fixed_dictionaries(
        {},
        optional={
            "hmxPickDefault": st.sampled_from([0, 1]) | UINT32,
            "hmxPerfMode": perf_modes,
            **{f"hmxVoltageCorner{limit}": EXPANDED for limit in LIMITS},
        },
    ),
)
ceng = st.builds(lambda mode: Option(native_ceng(mode)), perf_modes)
ceng_exp = st.builds(
    lambda fields: Option(native_ceng_exp(**fields)),
    st.fixed_dictionaries(
        {}, optional={"cengPerfMode": perf_modes, **{f"cengVoltageCorner{limit}": EXPANDED for limit in LIMITS}}
    ),
)
dcvs_exp = st.builds(
    lambda fields, context: Option(native_dcvs_exp(0, **fields), context),
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(
                ("setSleepLatency", "setSleepDisable", "sleepDisable", "setBusParams", "setCoreParams"), flags
            ),
            "powerMode": st.sampled_from([0, 1, 2, 4, 8, 16, 32]) | UINT32,
            "sleepLatency": VALUES,
            **dict.fromkeys(("corePerfMode", "busPerfMode"), perf_modes),
            **{f"{clock}VoltageCorner{limit}": EXPANDED for clock in ("bus", "core") for limit in LIMITS},
        },
    ),
    st.none() | st.none() | st.none() | ids,
)
scalars = st.builds(lambda name, value: Option(native_scalar(name, value)), st.sampled_from(SCALARS), VALUES)
unknown = (st.sampled_from([0, 11, 12, 2**31 - 1]) | st.integers(11, 2**32 - 1)).map(
    lambda n: Option(native_unknown(n))
)
ddr = st.builds(lambda value: Option(native_scalar("DDR_PERF_MODE", value)), VALUES)
# Valid options too, since a list is read only up to the first refused option.
valid = st.sampled_from(
    [
        Option(native_dcvs(0)),
        Option(native_dcvs_exp(0)),
        Option(native_hmx()),
        Option(native_ceng()),
        Option(native_ceng_exp()),
        Option(native_scalar(SCALARS[0])),
    ]
)
options = st.lists(
    valid | dcvs | dcvs | valid | dcvs_exp | hmx | scalars | ddr | ceng | ceng_exp | unknown, max_size=5
).map(tuple)
where = st.sampled_from([0, 0, 0, 0, 1, 2**32 - 1])
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.builds(Create, st.integers(0, SLOTS - 1), where, where),
        st.builds(Set, own_ids | own_ids | own_ids | ids, options | options | options | st.none()),
        st.builds(Set, own_ids, options),
        st.builds(Destroy, ids),
    ),
    min_size=1,
    max_size=15,
)


class Pair:
    """The real library and the simulated HTP, for comparison."""

    def __init__(self, real: RawClient, architecture: int) -> None:
        self.real = real
        self.architecture = architecture
        self.simulated = SimulatedHtp(architecture)
        self.seen: set[int] = set()
        self._slots: list[int] = []
        self._created: list[int] = []
        self.start()

    def start(self) -> None:
        """Begin a sequence with an id in the first slot, equal on both sides."""
        _, probe = self.real.create(0, 0)
        self.real.destroy(probe)
        version = self.real.library_version
        self.simulated = SimulatedHtp(self.architecture, library_version=version, first_id=(probe + 1) % 2**32)
        self._created = []
        # Ids that both sides do not know until a create.
        self._slots = [(probe + 2**20 * (slot + 1)) % 2**32 for slot in range(SLOTS)]
        self.play(Create(0, 0, 0))

    def play(self, step: Step) -> tuple[int, int]:
        """Play a step on both sides, and return both codes."""
        if isinstance(step, Create):
            real, made = self.real.create(step.device_id, step.core_id)
            simulated, counted = self.simulated.native_create(step.device_id, step.core_id)
            assert (real != SUCCESS) or made == counted, "ids are counted alike"
            self._slots[step.slot] = made
            self._created.append(made)
        elif isinstance(step, Set):
            power_config_id = self._number(step.id)
            configs = None if step.options is None else [self._config(each, power_config_id) for each in step.options]
            real = self.real.set(power_config_id, configs)
            simulated = self.simulated.native_set(power_config_id, configs)
        else:
            power_config_id = self._number(step.id)
            real = self.real.destroy(power_config_id)
            simulated = self.simulated.native_destroy(power_config_id)
        self.seen.add(real)
        return real, simulated

    def difference(self, sequence: list[Step]) -> str:
        """Play a sequence on both sides, and return where the codes differ; empty if they do not."""
        self.start()
        try:
            for step in sequence:
                real, simulated = self.play(step)
                if simulated != real:
                    return f"to {step} the library answers {real}, not {simulated}"
        finally:
            self.end()
        return ""

    def end(self) -> None:
        """Destroy all ids."""
        for made in self._created:
            self.real.destroy(made)

    def _number(self, which: Id) -> int:
        return which.other if which.slot is None else self._slots[which.slot]

    def _config(self, option: Option, power_config_id: int) -> NativeConfig:
        if "contextId" not in option.config.fields:
            return option.config
        context = power_config_id if option.context is None else self._number(option.context)
        fields: dict[str, Any] = {**option.config.fields, "contextId": context}
        return attrs.evolve(option.config, fields=fields)


@pytest.fixture(params=SOC_OF_ARCHITECTURE, ids="V{}".format)
def pair(vendors_library: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[Pair]:
    """Yield both sides on each architecture, without the log of refused calls."""
    caplog.set_level(logging.CRITICAL, "htppower.qnn")
    with skip_unknown_soc():
        real = RawClient(vendors_library, SOC_OF_ARCHITECTURE[request.param])
    yield Pair(real, request.param)
    real.device.close()


@pytest.fixture(scope="module")
def sequences(request: pytest.FixtureRequest) -> list[list[Step]]:
    """Return random sequences, drawn once for all architectures: drawing takes far longer than playing."""
    drawn: list[list[Step]] = []

    @settings(
        max_examples=request.config.getoption("--sequences", default=None) or SEQUENCES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(steps)
    def draw(sequence: list[Step]) -> None:
        drawn.append(sequence)

    draw()
    return drawn


def test_both_answer_the_same_to_any_sequence(pair: Pair, sequences: list[list[Step]]) -> None:
    """At every step the codes are equal, and each kind of code occurs."""
    for sequence in sequences:
        if pair.difference(sequence):
            short = _shortened(sequence, pair)
            pytest.fail(f"V{pair.architecture}: {pair.difference(short)} in {short}")
    assert pair.seen == {SUCCESS, INVALID_INPUT, UNSUPPORTED, UNSUPPORTED_CONFIG}


def _shortened(sequence: list[Step], pair: Pair) -> list[Step]:
    """Return the sequence without the steps that are not needed for its difference."""
    for at in reversed(range(len(sequence))):
        shorter = sequence[:at] + sequence[at + 1 :]
        if pair.difference(shorter):
            sequence = shorter
    return sequence
