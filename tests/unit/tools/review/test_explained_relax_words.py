"""``htppower explain`` of the keys of learnt times, second states and raises ahead, without a profile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from htppower import load_profile
from htppower.profiles.field_limits import fields_of
from htppower.profiles.file_format import AdaptiveFields, BreakEvenFields, ColdStartsFields, ThenFields
from htppower.profiles.sustain import LONGEST_SUSTAIN_US
from htppower.tools.review.explain.relax_words import words

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def _told(command: Command, name: str) -> dict[str, str]:
    (told,) = json.loads(command.output("explain", name, "--format", "json"))["keys"]
    return dict(told)


@pytest.mark.parametrize("name", words())
def test_a_word_is_told_with_an_example_that_loads(command: Command, tmp_path: Path, name: str) -> None:
    """Each word has its place and its effect; a profile with its example is valid."""
    told = _told(command, name)
    file = tmp_path / "mine.yaml"
    file.write_text(f"profile: mine\nextends: high_performance\n{told['example']}\n")
    assert load_profile(file).name == "mine"
    assert f"{name}:" in told["example"]
    for place in told["stands"].split(", "):
        assert _told(command, place) == told


def test_every_key_of_a_learnt_time_and_of_then_is_a_word() -> None:
    """A new key of the file format must be explained too."""
    kinds = (AdaptiveFields, BreakEvenFields, ColdStartsFields, ThenFields)
    keys = {name for kind in kinds for name in fields_of(kind)}
    assert keys <= set(words())


def test_ranges_are_those_of_the_reader(command: Command) -> None:
    """The range in the text is the range of the reader."""
    assert _told(command, "break_even_us")["range"] == f"1 to {LONGEST_SUSTAIN_US}"
    assert "SUS-4" in _told(command, "break_even_us")["rules"]
    assert _told(command, "after_us")["range"] == f"0 to {LONGEST_SUSTAIN_US}"


def test_a_key_that_stands_for_two_things_is_told_of_both(command: Command) -> None:
    """``to`` names the power state between the phases, and in ``then`` the second one."""
    says = _told(command, "to")["says"]
    assert "between the phases" in says
    assert "The second power state" in says


def test_a_profile_of_that_name_comes_first(command: Command, tmp_path: Path) -> None:
    """A user's profile with that name takes precedence over the word."""
    (tmp_path / "adaptive.yaml").write_text("profile: adaptive\nextends: burst\n")
    assert "votes.dcvs_v3.core" in command.output("explain", "adaptive", "--profiles", str(tmp_path))


def test_a_profile_without_the_word_leads_to_it(command: Command) -> None:
    """If a profile does not state the field, the error names the word; so it does for a misspelt word."""
    assert "htppower explain adaptive" in command.run("explain", "burst", "adaptive").stderr
    assert "did you mean cold_starts?" in command.run("explain", "cold_start").stderr
