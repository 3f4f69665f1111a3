"""The sources of the clock that call libraries, on stand-ins in C: libqcnpuperf and pdh.dll."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import TYPE_CHECKING

import pytest
from support.checkout import TESTS
from support.hanging import until
from support.shared_folders import once
from support.standin import compile_standin

from htppower import ClockReader, EnergyMeter, Qcnpuperf, VoteController
from htppower.backends import SimulatedHtp
from htppower.control.clock.reader import SHORTEST_PERIOD_US
from htppower.control.clock.reading import LONGEST_CLOSE_S, ClockReading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIBRARY = "libqcnpuperf.so.1"


def _compiled(temporary: pytest.TempPathFactory, name: str, library: str, *flags: str) -> Path:
    source = TESTS / "native" / f"{name}.c"
    folder = once(
        temporary,
        f"{name}{'-'.join(flags)}",
        lambda folder: compile_standin(folder, *flags, source=source, library=library),
    )
    return folder / library


class Dsp:
    """The script and the trace of the stand-in of libqcnpuperf."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.library = library
        self.script_path, self.trace_path = folder / "qcnpuperf.script", folder / "qcnpuperf.trace"
        self.script(clock=1_401_000, q6=43.2, hvx=12, hmx=80.1, arch=75)

    def script(self, **values: float) -> None:
        """Set the answers from now on."""
        new = self.script_path.with_suffix(".new")
        new.write_text("".join(f"{name} {value}\n" for name, value in values.items()), encoding="ascii")
        new.replace(self.script_path)

    @property
    def calls(self) -> list[tuple[str, int]]:
        """The calls so far, each with its thread."""
        if not self.trace_path.exists():
            return []
        pairs = (line.split() for line in self.trace_path.read_text(encoding="ascii").splitlines())
        return [(name, int(thread)) for name, thread in pairs]

    def count(self, name: str) -> int:
        """Return how often a function was called."""
        return [each for each, _ in self.calls].count(name)


@pytest.fixture
def dsp(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dsp:
    """Return the stand-in with a script and a trace of this test."""
    made = Dsp(_compiled(tmp_path_factory, "qcnpuperf", LIBRARY), tmp_path)
    monkeypatch.setenv("QCNPUPERF_SCRIPT", str(made.script_path))
    monkeypatch.setenv("QCNPUPERF_TRACE", str(made.trace_path))
    return made


@pytest.fixture
def controller() -> Iterator[VoteController]:
    """Yield a controller in real time; close it."""
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as made:
        yield made


def test_the_values_and_the_architecture(dsp: Dsp) -> None:
    """The clock is in kHz and the uses are in percent, as the library gives them."""
    source = Qcnpuperf(dsp.library)
    assert source.name == "libqcnpuperf"
    source.open()
    assert source.read(9) == ClockReading("libqcnpuperf on V75", 9, 1_401_000, 43.2, 12.0, 80.1)
    source.close()
    source.close()
    assert [name for name, _ in dsp.calls] == ["open", "read", "close"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"open": 0}, r"qcom_dsp_open\(3\) failed"),
        ({"count": -1}, "has not answered"),
        ({"count": 0}, "has not answered"),
    ],
)
def test_a_dsp_that_does_not_answer(dsp: Dsp, script: dict[str, float], said: str) -> None:
    """A null pointer, and an answer without a value, are errors that say what was called."""
    dsp.script(**script)
    source = Qcnpuperf(dsp.library)

    def open_and_read() -> None:
        source.open()
        source.read(0)

    with pytest.raises(OSError, match=said):
        open_and_read()
    source.close()


def test_a_library_that_is_missing_or_another(dsp: Dsp, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A missing library, another file, and a library without a function are refused with the reason."""
    with pytest.raises(OSError, match=r"no-such-library.*install libqcnpuperf"):
        Qcnpuperf("/no-such-library.so").open()
    with pytest.raises(OSError, match=r"qcnpuperf\.script"):
        Qcnpuperf(dsp.script_path).open()
    without = _compiled(tmp_path_factory, "qcnpuperf", LIBRARY, "-DWITHOUT_ARCH")
    with pytest.raises(OSError, match="has no function qcom_dsp_prof_get_q6_arch_version"):
        Qcnpuperf(without).open()


def test_a_reader_uses_one_thread_and_opens_again(dsp: Dsp, controller: VoteController) -> None:
    """After a failed read the session of the DSP is closed and opened again, all on one thread of its own."""
    with ClockReader(controller, Qcnpuperf(dsp.library), period_us=SHORTEST_PERIOD_US) as reader:
        until(lambda: reader.status().reading is not None)
        dsp.script(count=-1)
        until(lambda: reader.status().problem is not None)
        dsp.script(clock=300_000)
        until(lambda: reader.status().reading is not None)
        seen = reader.status().reading
        assert (seen is not None, seen and seen.clock_khz) == (True, 300_000)
    names, threads = zip(*dsp.calls, strict=True)
    assert (names[:2], names[-1]) == (("open", "read"), "close")
    assert dsp.count("open") == dsp.count("close") == names.count("open")
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_native_id()


def test_a_read_that_hangs_delays_nothing(dsp: Dsp, controller: VoteController) -> None:
    """While the library hangs, votes and statuses do not wait, and closing waits for about a second."""
    dsp.script(hang=20_000_000)
    reader = ClockReader(controller, Qcnpuperf(dsp.library))
    until(lambda: dsp.count("read"))
    begun_s = time.monotonic()
    with controller.session("burst") as session, session.inference():
        assert controller.status().clocks[0].reading is None
    voted_s = time.monotonic()
    reader.close()
    closed_s = time.monotonic()
    assert voted_s - begun_s < LONGEST_CLOSE_S
    assert closed_s - voted_s < 5 * LONGEST_CLOSE_S
    assert dsp.count("close") == 0


def test_the_energy_meter(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The counter's mW are read; a rail that is missing is an error and leaves no query open."""
    library = _compiled(tmp_path_factory, "pdh", "pdh.so")
    source = EnergyMeter("NSP", library=library)
    source.open()
    assert source.read(4) == ClockReading("Energy Meter NSP", 4, power_mw=2310.5)
    source.close()
    with pytest.raises(OSError, match=r"PdhAddEnglishCounterW for .*Energy Meter\(GPU\).* returned 0xc0000bb8"):
        EnergyMeter("GPU", library=library).open()
    assert ctypes.CDLL(str(library)).still_open() == 0


@pytest.mark.parametrize("rail", ["", "*", "a)b", "a\\b"])
def test_a_rail_that_is_not_one(rail: str) -> None:
    """A name that would be another counter path is refused."""
    with pytest.raises(ValueError, match="the name of one instance"):
        EnergyMeter(rail)
