"""``htppower explain`` of relaxing: learnt times, fields that are left out, and overridden values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


@pytest.fixture
def learning(tmp_path: Path) -> str:
    """Return the path of a profile with a learnt time and a second power state."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        "profile: mine\nextends: burst\nrelax:\n  after_inference_us: {adaptive: {break_even_us: 100000}}\n"
        "  then: {to: released, after_us: {adaptive: {cold_starts: 5 %}}}\n",
        encoding="utf-8",
    )
    return str(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("after_inference_us", "{adaptive: {break_even_us: 100000, least_us: 0, most_us: 200000}}"),
        ("break_even_us", "100000"),
        ("after_inference_us.adaptive.most_us", "200000"),
        ("cold_starts", "5 %"),
        ("after_us", "{adaptive: {cold_starts: 5 %, least_us: 0, most_us: 10000000}}"),
        ("then.to", "released"),
        ("raise_ahead_us", "0"),
        ("further.dcvs_v3.core", "MIN_VOLTAGE_CORNER"),
    ],
)
def test_what_is_learnt_is_explained(command: Command, learning: str, name: str, value: str) -> None:
    """Each field has its value, even if that is a default, and a sentence on its effect."""
    (field,) = json.loads(command.output("explain", learning, name, "--format", "json"))["fields"]
    assert field["value"] == value
    assert field["does"].endswith(".")


def test_a_mapping_of_a_learnt_time_stands_for_its_numbers(command: Command, learning: str) -> None:
    """``adaptive`` and ``then`` are mappings: the fields in them are explained."""
    for name, fields in (
        ("after_inference_us.adaptive", ["break_even_us", "least_us", "most_us"]),
        ("then", ["to", "after_us"]),
    ):
        told = json.loads(command.output("explain", learning, name, "--format", "json"))["fields"]
        assert [each["field"].rpartition(".")[2] for each in told] == fields


def test_a_number_that_a_mapping_replaces_is_overridden(command: Command, learning: str) -> None:
    """A learnt time overrides an inherited number as a whole; it is explained with the rules on each of its numbers."""
    told = command.output("explain", learning, "after_inference_us")
    assert "300000 (overridden)" in told
    assert all(rule in told for rule in ("SUS-1", "SUS-3", "SUS-4", "SUS-5", "SUS-6", "REV-8"))
    assert "SUS-6" not in command.output("explain", "burst", "after_inference_us")


def test_what_is_left_out_of_a_learnt_time_is_written_nowhere(command: Command, learning: str, tmp_path: Path) -> None:
    """An overridden number gives no key of the learnt time; a key that it overrode is not in the chain either."""
    for line in command.output("explain", learning, "adaptive").splitlines():
        assert "burst.yaml" not in line
    number, again = tmp_path / "number.yaml", tmp_path / "again.yaml"
    number.write_text("profile: number\nextends: limited.yaml\nrelax: {after_inference_us: 200000}\n")
    again.write_text(
        "profile: again\nextends: number.yaml\nrelax: {after_inference_us: {adaptive: {cold_starts: 5 %}}}\n"
    )
    limited = "profile: limited\nextends: mine.yaml\nrelax: {after_inference_us: {adaptive: {least_us: 30000}}}\n"
    (tmp_path / "limited.yaml").write_text(limited)
    for path, written in ((again, []), (tmp_path / "limited.yaml", ["30000"])):
        asked = ("explain", str(path), "after_inference_us.adaptive.least_us")
        assert "30000" in command.output(*asked) if written else "nowhere: it is the default" in command.output(*asked)
        (field,) = json.loads(command.output(*asked, "--format", "json"))["fields"]
        assert [each["value"] for each in field["chain"]] == written


def test_what_is_left_out_of_relax_is_explained_where_it_is_asked_for(command: Command) -> None:
    """Most profiles leave these fields out, so explain shows them only by name."""
    told = json.loads(command.output("explain", "burst", "then", "--format", "json"))["fields"]
    assert [(each["field"], each["value"], each["chain"]) for each in told] == [("relax.then", "unset", [])]
    assert "relax.then" not in command.output("explain", "burst")
