"""Device models in files: the shipped models, refusals with their place, lint and schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs
import pytest
import yaml
from support.schemas import VALIDATORS
from support.shipped import shipped_folder

from htppower.errors import ProfileError
from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.tools.tuning.models.file import device_names, load_device_model, odd_order
from htppower.tools.tuning.models.model import ASSUMED, LIMITS_OF_VALUES, MEASURED, SOURCE, DeviceModel, Quantity

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

SHIPPED = shipped_folder() / "devices"
TEXT = (SHIPPED / f"{DEFAULT_DEVICE}.yaml").read_text(encoding="utf-8")


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write the default model with parts of its text replaced, each once."""
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    file = folder / f"{DEFAULT_DEVICE}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def refusals(file: Path) -> list[str]:
    """Return the reasons for refusing a file, each as rule, line and message."""
    with pytest.raises(ProfileError) as refused:
        load_device_model(file)
    return [f"{each.rule} {each.line} {each.message}" for each in refused.value.problems]


def test_the_shipped_models_are_found_and_have_the_name_of_their_file() -> None:
    """Three models ship: one for any device, and two with public values of a device."""
    assert device_names() == (DEFAULT_DEVICE, "snapdragon_8_gen_3", "snapdragon_x_elite")
    assert [load_device_model(name).device for name in device_names()] == list(device_names())


@pytest.mark.parametrize("name", device_names())
def test_every_value_that_ships_says_where_it_is_from_and_how_far_it_may_be_off(name: str) -> None:
    """No shipped value is called measured; each has a range, except burst's speed; each source is a page."""
    for at, quantity in load_device_model(name).quantities().items():
        assert quantity.provenance in (ASSUMED, SOURCE), at
        assert (quantity.range is None) is (at == "speeds.burst"), at
        assert quantity.provenance == ASSUMED or "https://" in quantity.of or at == "speeds.burst", at


def test_what_ships_as_public_is_what_the_sources_say() -> None:
    """The sources have the speeds of the X Elite in prefill and decode, and the lateness of an inference after idle."""
    elite = load_device_model("snapdragon_x_elite").quantities()
    speeds = {"balanced": (0.955, 0.949), "power_saver": (0.702, 0.729), "low_power_saver": (0.447, 0.503)}
    for profile, (prefill, decode) in speeds.items():
        said = elite[f"speeds.{profile}"]
        assert (said.value, said.provenance, said.range) == (prefill, SOURCE, tuple(sorted((prefill, decode))))
    for device in ("snapdragon_x_elite", "snapdragon_8_gen_3"):
        late = load_device_model(device).raise_late_us
        assert (late.provenance, 1100 <= late.value <= 2300) == (SOURCE, True)
    assert load_device_model("snapdragon_8_gen_3").quantities()["speeds.balanced"].provenance == ASSUMED


def test_a_model_in_a_folder_of_ones_own_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    """A model is found by name below devices, as power states are below states; a shipped name comes first."""
    (tmp_path / "devices").mkdir()
    own = changed(tmp_path, (f"device: {DEFAULT_DEVICE}", "device: mine")).rename(tmp_path / "devices" / "mine.yaml")
    assert load_device_model("mine", [tmp_path]) == load_device_model(own)
    assert device_names([tmp_path]) == (*sorted((DEFAULT_DEVICE, "mine", "snapdragon_8_gen_3", "snapdragon_x_elite")),)
    with pytest.raises(ProfileError, match=r"no device model 'mien'.*did you mean mine"):
        load_device_model("mien", [tmp_path])


def test_every_problem_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    """Problems of YAML, keys, types, words, ranges and lists are sorted by line."""
    file = changed(
        tmp_path,
        ("device: hexagon_assumed", "device: hexagon_assumed\ncolour: red"),
        ("value: 1000\n  provenance: assumed", "value: -5\n  provenance: guess"),
        ("range: [300, 14000]", "range: [300]"),
        ("value: 2.0\n", "value: 9.0\n"),
        ("value: 0.30\n", "value: on\n"),
        ("profile: balanced", "profile: burst"),
        ("sleep_latency_us: 100\n", "sleep_latency_us: 40\n"),
        ("value: 0.447\n", "value: 0\n"),
    )
    said = refusals(file)
    assert [" ".join(each.split()[:2]) for each in said] == [
        f"{rule} {line}"
        for rule, line in (
            ("KEY-1", 3),
            ("VALUE-1", 6),
            ("VALUE-1", 7),
            ("VALUE-1", 9),
            ("VALUE-1", 19),
            ("VALUE-1", 29),
            ("YAML-3", 36),
            ("VALUE-1", 83),
            ("VALUE-1", 85),
            ("VALUE-1", 109),
            ("VALUE-1", 112),
            ("VALUE-1", 126),
        )
    ], said
    assert "raise_call_us.value is -5" in said[1]
    assert "range has 1 items" in said[4]
    assert "active_w.range, 0.5 to 6, does not contain the value 9" in said[5]
    assert "speeds has burst twice" in said[7]
    assert "speeds.7.speed.value is 0" in said[9]
    assert "wakes has 40 twice" in said[11]


@pytest.mark.parametrize("field", ["active_w", "speeds", "wakes", "summary"])
def test_no_value_may_be_left_out(tmp_path: Path, field: str) -> None:
    """A missing value would become a silent guess."""
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub(rf"^{field}:.*\n(?: .*\n)*", "", TEXT, flags=re.MULTILINE), encoding="utf-8")
    assert refusals(file) == [f"KEY-2 2 {field} is missing"]


def test_only_what_was_measured_has_a_spread_and_a_count(tmp_path: Path) -> None:
    """A spread of an assumption would look like a measurement."""
    wrong = changed(tmp_path, ("range: [0.5, 6.0]", "spread: 0.1\n  count: 20"))
    assert [each.split(".")[-1] for each in refusals(wrong)] == [
        "spread is given for a value that was not measured",
        "count is given for a value that was not measured",
    ]
    file = changed(tmp_path, ("range: [0.5, 6.0]", "spread: 0.1\n  count: 20"))
    text = file.read_text(encoding="utf-8").replace(
        "value: 2.0\n  provenance: assumed", "value: 2.0\n  provenance: measured"
    )
    file.write_text(text, encoding="utf-8")
    found = load_device_model(file).active_w
    assert (found.provenance, found.spread, found.count) == (MEASURED, 0.1, 20)


def linted(command: Command, path: Path) -> tuple[int, str]:
    """Return the exit code of lint, and its output in one line."""
    said = command.run("lint", str(path))
    return said.exit_code, " ".join(said.stdout.split())


def test_lint_checks_models_in_folders_and_tells_of_an_order_that_saves_nothing(
    command: Command, tmp_path: Path
) -> None:
    """A model is recognized by its keys; MODEL-1 and REV-6 are warnings, which a suppression lifts."""
    file = changed(tmp_path, ("value: 0.30\n", "value: 0.01\n"), ("range: [0.05, 0.6]", "range: [0, 0.6]"))
    (tmp_path / "compose.yaml").write_text("device: /dev/sda\nname: disk\n")
    exit_code, told = linted(command, tmp_path)
    assert exit_code == 0
    assert "MODEL-1 relaxed_idle_w is 0.02 W, more than raised_idle_w, 0.01 W" in told
    assert "left out: 1 that hold neither" in told
    assert command.run("lint", str(tmp_path), "--strict").exit_code == 1
    file.write_text(f"# htppower: disable=MODEL-1 until=2099-12-31 because=measured so\n{file.read_text()}")
    assert command.run("lint", str(tmp_path), "--strict").exit_code == 0
    file.rename(tmp_path / "other.yaml")
    assert "REV-6 the file other.yaml holds the model hexagon_assumed" in linted(command, tmp_path)[1]
    (tmp_path / "other.yaml").write_text(TEXT.replace("value: 0.30\n", "value: lots\n"))
    exit_code, told = linted(command, tmp_path / "other.yaml")
    assert (exit_code, ":35:10: error TYPE-1" in told) == (1, True)


def test_measured_powers_whose_ranges_overlap_have_no_order() -> None:
    """MODEL-1 needs ranges apart: noise alone must not give a finding."""
    model = load_device_model()
    raised = Quantity(0.1, MEASURED, "x", (0.09, 0.11), 0.01, 5)
    for value_w, found in ((0.12, []), (0.14, ["relaxed_idle_w"])):
        relaxed = Quantity(value_w, MEASURED, "x", (value_w - 0.02, value_w + 0.02), 0.01, 5)
        both = model.with_quantity("raised_idle_w", raised).with_quantity("relaxed_idle_w", relaxed)
        assert [name for name, _ in odd_order(both)] == found


def test_the_schema_takes_what_the_reader_takes(tmp_path: Path) -> None:
    """The schema accepts the shipped models, and refuses values out of range, unknown, missing or of a wrong type."""
    schema = VALIDATORS["device"]
    for name in device_names():
        assert schema.is_valid(yaml.safe_load((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8")))
    for old, new in (
        ("value: 1000\n", "value: -5\n"),
        ("provenance: assumed", "provenance: guess"),
        ("range: [50, 5000]", "range: [50, 5000, 6000]"),
        ("range: [50, 5000]", "range: [-1, 5000]"),
        ("value: 2.0\n", "value: two\n"),
        ("active_w:", "active:"),
        ("sleep_latency_us: 40", "sleep_latency_us: 4"),
    ):
        file = changed(tmp_path, (old, new))
        assert not schema.is_valid(yaml.safe_load(file.read_text(encoding="utf-8"))), (old, new)
        assert refusals(file)


def test_a_quantity_is_changed_by_name() -> None:
    """One value changes and the rest stays, so that a result can be tried with another assumption."""
    model = load_device_model()
    every = model.quantities()
    assert {name.partition(".")[0] for name in every} == {
        field.name for field in attrs.fields(DeviceModel) if field.name not in ("device", "summary")
    }
    assert len(every) == len(LIMITS_OF_VALUES) - 2 + len(model.speeds) + len(model.wakes)
    for name in every:
        other = model.with_value(name, 0.125).quantities()
        assert {at for at in every if other[at] != every[at]} == {name}
        assert other[name] == attrs.evolve(every[name], value=0.125)
    with pytest.raises(KeyError):
        model.with_value("speeds.nobody", 1)
    with pytest.raises(KeyError):
        model.with_value("device", 1)
