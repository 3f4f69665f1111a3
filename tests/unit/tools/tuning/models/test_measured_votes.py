"""What votes take: calls by their options, the clock that follows, and a missed vote, on a simulated HTP."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import attrs
import pytest
from support.timed_device import SPEEDS, TIMING, Device

from htppower.errors import VoteRejected
from htppower.tools.tuning.models.calibration.settings import Settings
from htppower.tools.tuning.models.calibration.votes import Row, measure_votes
from htppower.tools.tuning.models.calibration.votes_forms import FORMS, document, render
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.models.timed_device import timed_htp

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.tuning.models.calibration.votes import Measurement, ReadClock

FEW = Settings(count=4)


def measured(
    device: Device, read: ReadClock | None = None, *, settings: Settings = FEW, infers: bool = True
) -> Measurement:
    """Return what votes take on a device."""
    with device.bench(settings, infers=infers) as bench:
        return measure_votes(bench, read, "1.0.7")


def rows(measurement: Measurement) -> dict[tuple[str, tuple[str, ...]], Row]:
    """Return the rows by what they are of."""
    return {(row.what, row.options): row for row in measurement.rows}


def clock_of(device: Device, follows_us: int) -> Callable[[], int | None]:
    """Return a reader of a clock that follows the votes after a time, and takes 300 us to read."""
    seen: list[tuple[int, int]] = []

    def read() -> int | None:
        device.time.advance_us(300)
        target = device.htp.effective().core_target
        if not seen or seen[-1][1] != target:
            seen.append((device.time.now_us if seen else -follows_us, target))
        late = [each for at_us, each in seen if device.time.now_us - at_us >= follows_us]
        return late[-1] * 10_000 if late else None

    return read


def test_each_call_is_measured_by_its_options() -> None:
    """A raise, a lowering and the same votes once more, each without the first time."""
    found = rows(measured(Device()))
    assert {key: row.samples_us for key, row in found.items() if row.options} == {
        ("raise", ("DCVS_V3",)): (2000,) * 4,
        ("raise", ("RPC_POLLING_TIME",)): (1300,) * 4,
        ("lower", ("DCVS_V3",)): (1300,) * 4,
        ("lower", ("RPC_POLLING_TIME",)): (1300,) * 4,
        ("repeated", ("DCVS_V3",)): (1300,) * 4,
        ("repeated", ("RPC_POLLING_TIME",)): (1300,) * 4,
    }


def test_a_profile_has_the_option_sets_of_its_own_votes() -> None:
    """A profile without polling makes one call for a raise, and its power state one call to lower."""
    found = rows(measured(Device(), settings=attrs.evolve(FEW, profile="balanced")))
    assert {(what, options) for what, options in found if options} == {
        (what, ("DCVS_V3",)) for what in ("raise", "lower", "repeated")
    }


@pytest.mark.parametrize("follows_us", [0, 1000, 7300, 40_000])
def test_the_clock_follows_after_the_time_that_it_takes(follows_us: int) -> None:
    """The first reading with the new clock gives the time, so it is late by at most one reading."""
    device = Device()
    found = rows(measured(device, clock_of(device, follows_us)))
    for what, note in (("raise", "from 640 to 1600 MHz"), ("lowering", "from 1600 to 640 MHz")):
        row = found[f"clock follows a {what}", ()]
        assert row.note == note
        assert len(row.samples_us) == 5
        assert all(follows_us <= each <= follows_us + 1000 for each in row.samples_us), row.samples_us


def test_a_clock_that_does_not_follow_is_told() -> None:
    """The row has no times, and says how often the clock did not move: the votes do not reach it."""
    row = rows(measured(Device(), lambda: 800_000))["clock follows a raise", ()]
    assert (row.samples_us, row.note) == ((), "from 800 to 800 MHz; it did not move 5 of 5 times")


@pytest.mark.parametrize(
    ("read", "note"),
    [
        (None, "no clock was read: add --clock qcnpuperf"),
        (lambda: None, "the clock gave no reading: try it with htppower profile --clock"),
    ],
)
def test_without_a_clock_the_row_says_so(read: ReadClock | None, note: str) -> None:
    """It names the option that reads one, or the command that shows why the named one gives nothing."""
    found = rows(measured(Device(), read))
    for what in ("raise", "lowering"):
        row = found[f"clock follows a {what}", ()]
        assert (row.samples_us, row.note) == ((), note)


def test_a_missed_vote_costs_the_difference_of_two_inferences() -> None:
    """Under burst the inference takes 7000 us less 140 us by polling; under the lowered votes the clock is slower."""
    found = rows(measured(Device()))
    slow_us = round(7000 / SPEEDS[64])
    assert found["inference, votes raised", ()].samples_us == (6860,) * 4
    assert found["inference, votes missed", ()].samples_us == (slow_us,) * 4
    assert found["a missed vote costs", ()].samples_us == (slow_us - 6860,) * 4
    alone = measured(Device(), infers=False).rows[-1]
    note = "no inference was run: add --run MODEL.onnx or MODULE:FUNCTION"
    assert (alone.what, alone.samples_us, alone.note) == ("a missed vote costs", (), note)


def test_a_row_has_its_median_and_tenths() -> None:
    """By linear interpolation between the sorted times; a single time is all of them."""
    assert Row("x", samples_us=tuple(range(101))).quantiles_us == {"median_us": 50, "p10_us": 10, "p90_us": 90}
    assert Row("x", samples_us=(7,)).quantiles_us == {"median_us": 7, "p10_us": 7, "p90_us": 7}
    assert set(Row("x").quantiles_us.values()) == {None}


def test_the_votes_are_lowered_after_ctrl_c_and_errors() -> None:
    """Wherever it ends: in a wait, a call, an inference or the reader of the clock."""
    every = Device()
    measured(every, clock_of(every, 0), settings=attrs.evolve(FEW, count=1))
    for at in range(1, every.sleeps + 1, 3):
        device = Device()
        device.interrupted_sleep = at
        with pytest.raises(KeyboardInterrupt):
            measured(device, settings=attrs.evolve(FEW, count=1))
        assert device.left() == ((), 0), at
    for at in range(1, every.waits + 1, 50):
        device = Device()
        device.interrupted_wait = at
        with pytest.raises(KeyboardInterrupt):
            measured(device, clock_of(device, 0), settings=attrs.evolve(FEW, count=1))
        assert device.left() == ((), 0), at
    device = Device()
    with pytest.raises(ZeroDivisionError):
        measured(device, lambda: 1 // 0)
    assert device.left() == ((), 0)
    device.htp.fail_next(13000, nth=7)
    with pytest.raises(VoteRejected):
        measured(device)
    assert device.left() == ((), 0)


def test_the_json_can_be_published() -> None:
    """It has the platform, the release and the times, says that it is a simulation, and has no path."""
    found = json.loads(render(measured(Device(soc_model="SM8650")), "json", 80))
    assert (found["format_version"], found["backend"], found["hardware"]) == (1, "simulated", False)
    assert (found["soc"]["model"], found["arch"], found["fastrpc"]) == (57, 75, "1.0.7")
    assert (found["profile"], found["date"]) == ("burst", "2026-11-23")
    assert found["rows"][0] == {
        "what": "raise",
        "options": ["DCVS_V3"],
        "n": 4,
        "median_us": 2000,
        "p10_us": 2000,
        "p90_us": 2000,
        "note": "",
    }
    assert "a simulation" in found["notes"][0]
    assert not re.search(r'"[^"]*(/home|/tmp|/usr|\\\\)', json.dumps(found))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_every_row_and_the_note(form: str) -> None:
    """Text, Markdown and JSON have the same rows, and say that it is a simulation."""
    measurement = measured(Device())
    text = render(measurement, form, 200)
    assert "a simulation: these times are those of the simulated HTP" in text
    for row in document(measurement)["rows"]:
        assert row["what"] in text
        assert all(option in text for option in row["options"])


def test_a_simulated_htp_takes_the_times_of_a_device_model() -> None:
    """A raise and a lowering of burst take the calls of the model, and a slower profile has the model's speed."""
    model = load_device_model()
    device = Device()
    device.htp = timed_htp(model, clock=device.time, sleep=device.sleep)
    device.recorder = type(device.recorder)(device.htp, time=device.time)
    found = device.calibrate(base=model).found
    assert found["raise_call_us"].value == model.raise_call_us.value
    assert found["lower_call_us"].value == model.lower_call_us.value
    assert found["raise_late_us"].value == model.raise_late_us.value
    assert found["speeds.power_saver"].value == pytest.approx(0.702, rel=0.01)
    assert TIMING.raise_call_us != model.raise_call_us.value
