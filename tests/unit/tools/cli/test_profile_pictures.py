"""``htppower profile --format svg|html|trace``: golden files, and whole documents or none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.dry_runs import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

FORMATS = ("svg", "html", "trace")


@pytest.mark.parametrize(
    ("form", "name"), [("svg", "burst.svg"), ("html", "burst.html"), ("trace", "burst.trace.json")]
)
def test_golden(command: Command, form: str, name: str) -> None:
    """The pictures of burst equal the golden files."""
    command.assert_golden(name, "profile", "burst", "--dry-run", "--format", form)


def test_the_simulated_backend_in_real_time_is_drawn_too(command: Command) -> None:
    """--backend simulated draws the same calls in real time."""
    arguments = ("profile", "high_performance", "--inferences", "1", "--inference-us", "500", "--gap-us", "500")
    parsed(command.output(*arguments, "--backend", "simulated", "--format", "svg"))
    real = json.loads(command.output(*arguments, "--backend", "simulated", "--format", "trace"))
    virtual = json.loads(command.output(*arguments, "--dry-run", "--format", "trace"))
    names = [
        sorted(event["name"] for event in document["traceEvents"] if event["ph"] == "i") for document in (real, virtual)
    ]
    assert names[0] == names[1] != []


def test_a_run_ends_when_its_session_is_destroyed(command: Command) -> None:
    """In real time, too, the command does not wait after the end of the session."""
    arguments = ("--backend", "simulated", "--inferences", "0", "--inference-us", "0", "--gap-us", "0")
    document = json.loads(command.output("profile", "balanced", *arguments, "--format", "json"))
    assert document["summary"]["time_in_state_us"]["DESTROYED"] == 0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", ["profile: mine\nextends: burst\nvotes: {rpc_polling_time_us: many}\n", "]", ""])
def test_an_invalid_file_is_exit_2_and_prints_no_picture(
    command: Command, tmp_path: Path, form: str, text: str
) -> None:
    """A file that can't be read is an error at its place, and standard output is empty."""
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    result = command.run("profile", str(path), "--dry-run", "--format", form)
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(path) in result.stderr


@pytest.mark.parametrize(
    ("form", "maker"),
    [
        ("svg", "htppower.tools.review.pictures.svg.draw_legend"),
        ("html", "htppower.tools.review.dry_run.drawn._calls"),
        ("trace", "htppower.tools.review.dry_run.drawn._lane"),
    ],
)
def test_a_picture_is_printed_whole_or_not_at_all(
    command: Command, monkeypatch: pytest.MonkeyPatch, form: str, maker: str
) -> None:
    """If drawing fails half-way, nothing is printed."""

    def fail(*_: object) -> str:
        raise RuntimeError("half-way")

    monkeypatch.setattr(maker, fail)
    result = command.run("profile", "burst", "--dry-run", "--format", form)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "half-way" in result.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_formats_of_pictures_are_not_for_the_device(command: Command, form: str) -> None:
    """A run on the device has no report to draw: a usage error."""
    result = command.run("profile", "burst", "--for", "1s", "--format", form)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--format is for a dry run" in result.stderr
