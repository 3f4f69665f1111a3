"""``htppower calibrate``: the plan, the written model, and the refusals."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower.backends.simulated.htp import SimulatedHtp
from htppower.testing import VirtualTime
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.models.model import ASSUMED, MEASURED

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

HOST = """
import time

calls = 0
seen = 0
looks = 0


def infer():
    global calls
    calls += 1
    time.sleep(0.0005)


def at_once():
    pass


def stop():
    infer()
    if calls == 30:
        raise KeyboardInterrupt


def fail():
    infer()
    if calls == 30:
        raise RuntimeError("no more of this")


def power():
    global seen, looks
    works, seen = calls > seen, calls
    looks += 1
    return (1500 if works else 300) + looks % 7 / 1000


number = 7
"""
QUICK = ("--backend", "simulated", "--count", "2", "--idle", "1ms")
METER = ("--meter", "python:some_host:power", "--meter-period", "10ms", "--power-count", "4")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder with a host in it."""
    (tmp_path / "some_host.py").write_text(HOST)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "some_host", raising=False)
    return tmp_path


@pytest.fixture
def in_virtual_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let time move only while the command waits, and while the host runs an inference."""
    clock = VirtualTime()
    monkeypatch.setattr("htppower.control.time.scheduler.SystemTime", lambda: clock)
    monkeypatch.setattr("time.sleep", lambda duration_s: clock.advance_us(round(duration_s * 1e6)))


def test_a_dry_run_prints_the_plan_and_votes_on_nothing(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan lists each step with its measurement and duration; nothing is opened, called or written."""
    monkeypatch.setattr(SimulatedHtp, "__init__", lambda *_: pytest.fail("a backend was opened"))
    (folder / "rail").write_text("5")
    before = sorted(folder.glob("*.*"))
    said = command.output("calibrate", "--dry-run", "-o", "x.yaml", "--run", "some_host:infer", "--meter", "file:rail")
    assert "measures raise_call_us, lower_call_us" in said
    assert "takes 258 inferences; in addition 48.0 s" in said
    assert "takes 23 inferences, and as many as fit in 66.3 s; in addition 4 min" in said
    assert said.endswith("In all 6 min, without calls and counted inferences. No vote was sent.\n")
    assert (sorted(folder.glob("*.*")), sys.modules["some_host"].calls) == (before, 0)
    assert "active_w" not in command.output("calibrate", "--dry-run", "--meter", "file:rail")
    assert "raise_late_us" not in command.output("calibrate", "--dry-run")


@pytest.mark.parametrize("run", ["some_host", "some_host:nothing", "some_host:number", "no_such_host:infer", "no.onnx"])
def test_a_dry_run_refuses_what_can_not_be_run(command: Command, folder: Path, run: str) -> None:
    """The dry run gives the same error as the measurement, and prints no plan."""
    dry = command.run("calibrate", "--dry-run", "--run", run)
    real = command.run("calibrate", "-o", str(folder / "x.yaml"), "--run", run, *QUICK)
    assert (dry.exit_code, dry.stdout, dry.stderr) == (2, "", real.stderr)
    assert run.partition(":")[0] in dry.stderr


@pytest.mark.usefixtures("in_virtual_time")
def test_it_writes_a_model_that_lint_takes(command: Command, folder: Path) -> None:
    """Measured values are marked, and all others come from the base; the report names both values and the file."""
    said = command.run(
        "calibrate", "-o", "phone.yaml", "--run", "some_host:infer", "--device", "snapdragon_8_gen_3", *METER, *QUICK
    )
    assert (said.exit_code, said.stdout.splitlines()[-1]) == (0, "phone.yaml: written")
    assert "note: there is no hardware behind this backend" in said.stderr
    assert any(line.startswith("active_w") and line.endswith("assumed before: 2") for line in said.stdout.splitlines())
    assert command.output("lint", "phone.yaml", "--strict") == "1 file: no findings\n"
    model, base = load_device_model(folder / "phone.yaml"), load_device_model("snapdragon_8_gen_3")
    assert model.device == "phone"
    assert (model.active_w.count, model.released_idle_w.count) == (4, 6)
    assert (model.active_w.value, model.released_idle_w.value) == pytest.approx((1.5, 0.3), rel=0.01)
    assert re.search(r"active_w +15\d\d\S* \+- \S+ +1[12]\d\d\S* \+- ", said.stdout)
    provenances = {name: quantity.provenance for name, quantity in model.quantities().items()}
    assert {name for name, said in provenances.items() if said == ASSUMED} == {
        "call_j",
        "active_exponent",
        "raised_idle_exponent",
        "polling_w",
    }
    assert model.call_j == base.call_j
    assert {provenances[name] for name in ("raise_late_us", "wakes.40", "speeds.balanced", "active_w")} == {MEASURED}


def test_without_an_inference_the_calls_are_measured(command: Command, folder: Path) -> None:
    """The notes name the options that measure more."""
    said = command.run("calibrate", "-o", "calls.yaml", *QUICK)
    assert (said.exit_code, "note: no inference was run" in said.stderr) == (0, True)
    measured = {name for name, each in load_device_model(folder / "calls.yaml").quantities().items() if each.count}
    assert measured == {"raise_call_us", "lower_call_us"}


@pytest.mark.usefixtures("in_virtual_time")
def test_readings_that_prove_nothing_are_refused_and_nothing_is_written(command: Command, folder: Path) -> None:
    """The exit code is 1, and the reason is on the standard error: here a meter that always gives the same."""
    constant = ("--meter", f"command:{sys.executable} -c print(500)", "--meter-period", "1s")
    said = command.run("calibrate", "-o", "x.yaml", *QUICK, *constant, "--power-time", "9s")
    assert (said.exit_code, (folder / "x.yaml").exists()) == (1, False)
    assert "refused: 9000000 us have fewer than 10 periods of a meter of 1000000 us" in said.stderr
    (folder / "rail").write_text("500000")
    said = command.run("calibrate", "-o", "x.yaml", *QUICK, *METER[2:], "--meter", "file:rail")
    assert (said.exit_code, (folder / "x.yaml").exists()) == (1, False)
    assert "rail gives 0.5 W in every state: it does not measure this device" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the file to write with -o"),
        (("-o", "no/such/x.yaml"), "in a folder that does not exist"),
        (("-o", "x.yaml", "--meter", "rail"), "is not a meter: write file:PATH, command:COMMAND or python:MODULE"),
        (("-o", "x.yaml", "--meter", "file:nowhere"), "nowhere can't be read"),
        (("-o", "x.yaml", "--meter-unit", "W"), "--meter-unit is for --meter; add --meter"),
        (("-o", "x.yaml", "--meter", "python:some_host:power", "--compare", "balanced"), "add --run"),
        (("-o", "x.yaml", "--device", "hexagn_assumed"), "did you mean hexagon_assumed"),
        (("-o", "x.yaml", "--run", "some_host"), "is not a function"),
        (("-o", "x.yaml", "--run", "some_host:nothing"), "no attribute 'nothing'"),
        (("-o", "x.yaml", "--run", "some_host:number"), "is not a function, but int"),
        (("-o", "x.yaml", "--run", "no_such_host:infer"), "can't be imported"),
        (("-o", "x.yaml", "--run", "model.onnx"), "model.onnx is not a file"),
        (("-o", "x.yaml", "--run", "some_host:fail"), "the inference failed: RuntimeError: no more of this"),
        (("-o", "x.yaml", "--run", "some_host:at_once"), "too short to measure"),
        (("-o", "x.yaml", "--sleep-latency", "40", "--sleep-latency", "40"), "names a latency twice"),
        (("-o", "x.yaml", "--library", "libx.so"), "leave it out with --backend simulated"),
    ],
)
def test_what_can_not_be_measured_is_said_and_nothing_is_written(
    command: Command, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    """The exit code is 2, without a traceback."""
    before = sorted(folder.glob("*.*"))
    result = command.run("calibrate", *arguments, *QUICK)
    assert (result.exit_code, "internal error" in result.stderr) == (2, False)
    assert said in in_one_line(result.stderr)
    assert sorted(folder.glob("*.*")) == before


@pytest.mark.usefixtures("in_virtual_time")
def test_a_rail_in_another_unit_is_said_and_nothing_is_written(command: Command, folder: Path) -> None:
    """A rail in mW that is read in W draws more than any device."""
    arguments = ("calibrate", "-o", "x.yaml", "--run", "some_host:infer", *METER, *QUICK)
    result = command.run(*arguments, "--meter-unit", "W")
    assert (result.exit_code, (folder / "x.yaml").exists()) == (2, False)
    assert "active_w.value is 15" in result.stderr


def test_ctrl_c_leaves_no_file_and_an_old_one_as_it_was(command: Command, folder: Path) -> None:
    """The exit code is 130; ``test_ended_calibration.py`` checks that the votes are cleared."""
    (folder / "x.yaml").write_text("mine")
    result = command.run("calibrate", "-o", "x.yaml", "--force", "--run", "some_host:stop", *QUICK)
    assert (result.exit_code, (folder / "x.yaml").read_text()) == (130, "mine")
