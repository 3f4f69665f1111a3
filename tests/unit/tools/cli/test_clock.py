"""The measured clock in ``htppower status`` and ``htppower profile --clock``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench
from support.clocks import ScriptedClock
from support.hardware import SimulatedHardware
from support.inside import leave_behind

from htppower import ClockReader
from htppower.backends.simulated import htp
from htppower.control.gate import cpu_latency
from htppower.tools.cli.status.document import read_status
from htppower.tools.cli.status.history import Histories
from htppower.tools.cli.status.served import Served, overview
from htppower.tools.cli.status.table import table
from htppower.tools.cli.status.wording import measured_lines

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

    from htppower.tools.cli.status.document import Seen

VALUES = {"clock_khz": 1_401_400, "q6_use_percent": 43.2, "hmx_use_percent": 80.0, "power_mw": 2310.4}
SAID = "1401 MHz, Q6 43% used, HMX 80% used, 2310 mW; by dsp"


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Return a status with a reader and two sessions."""
    bench = Bench.make()
    path = tmp_path / "status.json"
    sessions = bench.controller.session("burst"), bench.controller.session("balanced")
    with ClockReader(bench.controller, ScriptedClock("dsp", **VALUES)), sessions[0].inference():
        bench.time.advance_us(1_000_000)
        leave_behind(bench.controller.serve_status(path))
    bench.controller.close()
    return path


def seen_of(path: Path, clock: dict[str, Any] | None = None) -> Seen:
    """Return the status in a file, with the fields of its reader replaced."""
    import datetime  # noqa: PLC0415 - freezegun must not have replaced it

    from htppower.tools.cli.status.document import seen  # noqa: PLC0415 - beside the above

    document = read_status(path)
    if clock is not None:
        document["clocks"] = [{**document["clocks"][0], **clock}]
    return seen(document, datetime.datetime.now(datetime.timezone.utc))


def test_the_text_has_the_reading_after_the_cores(served: Path, command: Command) -> None:
    """One line has the values with their units, the source and the age."""
    text = command.output("status", str(served), columns=120)
    line = next(line for line in text.splitlines() if line.startswith("measured"))
    assert line.split(maxsplit=1)[1] == f"{SAID}, 1.0 s ago"
    assert text.index("core 0") < text.index("measured") < text.index("process      settings")
    document = json.loads(command.output("status", str(served), "--format", "json"))
    assert document["clocks"][0]["reading"]["clock_khz"] == VALUES["clock_khz"]


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"us": 44, "held": True, "problem": None}, "wake within 44 us: held now"),
        ({"us": 44, "held": False, "problem": None}, "wake within 44 us: held while an inference runs"),
        ({"us": 44, "held": False, "problem": "no access"}, "wake within 44 us: no access"),
        ({"us": None, "held": False, "problem": None}, None),
    ],
)
def test_the_text_has_the_limit_for_the_cpus(
    served: Path, command: Command, limit: dict[str, Any], said: str | None
) -> None:
    """A session with a limit has a line with its state."""
    document = json.loads(served.read_text(encoding="ascii"))
    document["sessions"][0]["cpu_latency"] = limit
    served.write_text(json.dumps(document), encoding="ascii")
    lines = [line for line in command.output("status", str(served)).splitlines() if line.startswith("  cpus")]
    assert [line.split(maxsplit=1)[1] for line in lines] == ([] if said is None else [said])


def test_lists_and_tables_have_it_once_for_a_host(served: Path) -> None:
    """The list of hosts and the live table show it with the first session only."""
    found = (Served(served, seen_of(served)),)
    assert overview(found, 120, everything=True).count(SAID) == 1
    _, body = table(found, Histories(), 120, 0)
    assert " ".join(body).count("1401 MHz") == 1


@pytest.mark.parametrize(
    ("clock", "said"),
    [
        ({"reading": None, "problem": "no DSP"}, "no DSP; by dsp"),
        ({"reading": None, "problem": None}, "not read yet; by dsp"),
        ({"reading": {**dict.fromkeys(("q6_use_percent", "hvx_use_percent", "hmx_use_percent", "power_mw")),
                      "clock_khz": None, "time_us": 1_000_000}}, "no value yet; by dsp, 0 us ago"),
    ],
)  # fmt: skip
def test_what_is_said_without_a_value(served: Path, clock: dict[str, Any], said: str) -> None:
    """The reason of a failure is shown, or that nothing was read yet."""
    assert measured_lines(seen_of(served, clock)) == [("measured", said)]


def test_a_live_profile_with_a_file(command: Command, tmp_path: Path) -> None:
    """The last reading is printed at the end; a source that fails is named with the reason."""
    path = tmp_path / "stats"
    path.write_text("q6_clock_khz=1401000\n", encoding="ascii")
    live = ("profile", "burst", "--backend", "simulated", "--for", "300ms", "--clock")
    done = command.run(*live, f"file:{path}")
    assert (done.exit_code, f"measured by {path}: 1401 MHz" in done.stderr) == (0, True)
    done = command.run(*live, f"qcnpuperf:{tmp_path}/missing.so")
    assert (done.exit_code, "not measured by libqcnpuperf: " in done.stderr) == (0, True)
    assert "install libqcnpuperf" in done.stderr


def test_a_limit_for_the_cpus_that_is_not_requested_is_told(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live profile prints why: the log of the command is not shown."""
    monkeypatch.setattr(htp, "SimulatedHtp", SimulatedHardware)
    monkeypatch.setattr(cpu_latency, "PATH", str(tmp_path / "missing"))
    path = tmp_path / "camera.yaml"
    path.write_text("profile: camera\nsummary: For a test.\nextends: burst\ncpu_latency_us: 44\n", encoding="ascii")
    done = command.run("profile", str(path), "--backend", "simulated", "--for", "10ms", columns=300)
    assert done.exit_code == 0
    assert f"without cpu_latency_us: {tmp_path / 'missing'}: No such file or directory" in done.stderr
    assert "without cpu" not in command.run("profile", "burst", "--backend", "simulated", "--for", "10ms").stderr


@pytest.mark.parametrize("source", ["", "file", "file:", "meter", "meter:*", "qcnpuperf:", "other:x", "hwmon:"])
def test_sources_that_are_none(command: Command, source: str) -> None:
    """A source that is unknown or lacks its name is an error with exit code 2 that says what to write."""
    done = command.run("profile", "burst", "--backend", "simulated", "--for", "10ms", "--clock", source)
    assert done.exit_code == 2
    assert "Invalid value for '--clock'" in done.stderr


def test_a_dry_run_measures_nothing(command: Command) -> None:
    """``--clock`` with a dry run is refused."""
    done = command.run("profile", "burst", "--dry-run", "--clock", "hwmon")
    assert (done.exit_code, "--clock is for a run on the device" in done.stderr) == (2, True)
