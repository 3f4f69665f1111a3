"""A hint leads to a file that loads: the suggested value fits the field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from htppower import ProfileError, load_profile

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = {
    "summary": "profile: mine\nextends: burst\nsummary: {}\n",
    "dcvs_enable": "profile: mine\nextends: burst\nvotes: {{dcvs_v3: {{dcvs_enable: {}}}}}\n",
    "ddr_perf_mode": "profile: mine\nextends: burst\nvotes: {{ddr_perf_mode: {}}}\n",
    "power_mode": "profile: mine\nextends: burst\nvotes: {{dcvs_v3: {{power_mode: {}}}}}\n",
    "core": "profile: mine\nextends: burst\nvotes: {{dcvs_v3: {{core: {}}}}}\n",
    "hmx_v2": "profile: mine\nextends: burst\nvotes: {{hmx_v2: {}}}\n",
    "sleep_latency_us": "profile: mine\nextends: burst\nvotes: {{dcvs_v3: {{sleep_latency_us: {}}}}}\n",
    "after_inference_us": "profile: mine\nextends: burst\nrelax: {{after_inference_us: {}}}\n",
    "extends": "profile: mine\nextends: {}\n",
}
# The values that hints suggest, as they are written in a file.
WRITTEN = {
    "quote the word": '"{}"',
    "write true": "true",
    "write false": "false",
    "write true or false": "true",
    "write a decimal number": "200",
    "write a corner, or unset": "NOM",
    "write a power mode": "PERFORMANCE",
    "write an expanded corner, or unset": "unset",
}


def problems(path: Path, text: str) -> list[tuple[str, str, str]]:
    """Return rule, message and hint of every problem of a profile."""
    path.write_text(text, encoding="utf-8")
    try:
        load_profile(path)
    except ProfileError as error:
        return [(problem.rule, problem.message, problem.hint) for problem in error.problems]
    return []


@pytest.mark.parametrize("word", ["on", "no", "Yes", "y", "010", "0x10", "1_000", "12:30:45", "1e3", "2026-11-22"])
@pytest.mark.parametrize("field", FIELDS)
def test_a_hint_leads_to_no_wrong_type(tmp_path: Path, field: str, word: str) -> None:
    """After following the hint, the value has the right type."""
    ((rule, _, hint),) = problems(tmp_path / "mine.yaml", FIELDS[field].format(word))
    assert rule == "YAML-3"
    written = FIELDS[field].format(WRITTEN.get(hint, hint.removeprefix("write ")).format(word))
    assert "TYPE-1" not in [rule for rule, _, _ in problems(tmp_path / "mine.yaml", written)]


@pytest.mark.parametrize("word", [".inf", "-.inf", "+.INF", ".Inf", ".nan", ".NaN", ".NAN"])
@pytest.mark.parametrize("field", FIELDS)
def test_no_number_is_not_said_to_be_read_in_two_ways(tmp_path: Path, field: str, word: str) -> None:
    """Every parser reads them as the same wrong type, so the message does not mention two readings."""
    ((rule, message, _),) = problems(tmp_path / "mine.yaml", FIELDS[field].format(word))
    assert rule == "TYPE-1"
    assert "alike" not in message
    assert field == "extends" or re.match(r"-?(inf|nan), not a finite number", message)


def test_in_a_field_that_is_not_known_the_hint_says_what_for(tmp_path: Path) -> None:
    """If the type is unknown, the hint has both ways to write the value, and the meaning of each."""
    found = problems(tmp_path / "mine.yaml", "profile: mine\nextends: burst\nfast: on\nslow: 010\n")
    hints = [hint for rule, _, hint in found if rule == "YAML-3"]
    assert hints == [
        "write true; if a text is meant, quote it",
        "write a decimal number; if a text is meant, quote it",
    ]


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        ("core", "160", "MAX_VOLTAGE_CORNER"),
        ("core", '"128"', "TURBO"),
        ("core", "0x60", "NOM"),
        ("core", "{min: 48, target: SVS, max: TURBO}", "SVS2"),
        ("core", "DCVS_VOLTAGE_VCORNER_TURBO_PLUS", "TURBO_PLUS"),
        ("core", "DCVS_VOLTAGE_CORNER_DISABLE", "DISABLE"),
        ("hmx_v2", "{min: 256, target: MAX, max: MAX, perf_mode: HIGH}", "MIN"),
        ("hmx_v2", "{min: MIN, target: MAX, max: MAX, perf_mode: 1}", "LOW"),
        ("power_mode", "16", "PERFORMANCE"),
        ("power_mode", "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_ADJUST_UP_DOWN", "ADJUST_UP_DOWN"),
    ],
)
def test_a_number_of_the_header_is_named(tmp_path: Path, field: str, value: str, hint: str) -> None:
    """For a number or an enumerator of the vendor's header, the hint has the word that a profile uses."""
    ((_, _, said),) = problems(tmp_path / "mine.yaml", FIELDS[field].format(value))
    assert said == f"write {hint}"


@pytest.mark.parametrize("value", ["7", "-160", "DCVS_VOLTAGE_VCORNER", "1600"])
def test_any_other_number_is_not_named(tmp_path: Path, value: str) -> None:
    """If a number is not a corner, the hint suggests none."""
    ((_, _, said),) = problems(tmp_path / "mine.yaml", FIELDS["core"].format(value))
    assert not re.fullmatch("write [A-Z0-9_]+", said)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("after_inference_us", "300000"),
        ("after_inference_us", " 0 "),
        ("sleep_latency_us", "40"),
        ("dcvs_enable", "false"),
        ("ddr_perf_mode", "true"),
    ],
)
def test_a_value_in_quotes_is_to_be_written_without(tmp_path: Path, field: str, value: str) -> None:
    """The hint has the value without quotes, and a file with it loads."""
    ((_, _, said),) = problems(tmp_path / "mine.yaml", FIELDS[field].format(f'"{value}"'))
    assert said == f"write {value.strip()} without quotes"
    assert "TYPE-1" not in [rule for rule, _, _ in problems(tmp_path / "mine.yaml", FIELDS[field].format(value))]
