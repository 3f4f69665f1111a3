"""``htppower explain NAME``: rules, native codes, corners and unknown names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower.events import LinkState
from htppower.tools.review.explain.meanings import meaning_of
from htppower.tools.review.explain.subjects import codes, corners, rule_ids
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import code_name, known_codes

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("13010", "the codes are 0, 1000, "),
        ("-1", "the codes are 0, 1000, "),
        ("dcvs-99", "one of DCVS-1, DCVS-2, "),
        ("turbo", "did you mean TURBO?"),
        ("QNN_DEVICE_ERROR_INVALID_CONFI", "did you mean QNN_DEVICE_ERROR_INVALID_CONFIG?"),
        ("brust", "did you mean burst?"),
        ("perf_profle", "did you mean perf_profile?"),
        ("share_resource", "did you mean share_resources?"),
        ("nothing-like-it", "the profiles are burst, "),
        ("9" * 5000, "the codes are 0, "),
        ("\u00b2", "the profiles are burst, "),
        ("core", "a field needs a profile: htppower explain burst core)"),
        ("dcvs_v3.core.min", "a field needs a profile: htppower explain burst dcvs_v3.core.min)"),
    ],
)
def test_what_nothing_is_called_is_met_by_the_nearest_of_its_kind(command: Command, name: str, hint: str) -> None:
    """The hint for a wrong code is a code, and for a wrong field a field, not a profile."""
    result = command.run("explain", "--", name)
    assert (result.exit_code, f"({hint}" in result.stderr) == (2, True)


def test_a_rule_names_fields_that_there_are() -> None:
    """Each field that a rule names exists, and its explanation names that rule."""
    for rule in CATALOGUE.values():
        for at in rule.fields:
            assert rule.id in meaning_of(at).rules


def test_a_rule_is_explained(command: Command) -> None:
    """In upper or lower case, the id gives the reason, a broken example, the mend, the weight and the source."""
    for rule, entry in CATALOGUE.items():
        told = json.loads(command.output("explain", rule, "--format", "json"))["rule"]
        assert (told["id"], told["says"], told["weighs"]) == (rule, entry.says, entry.breach.value)
        assert told["source"] == entry.source
        assert told["why"]
        assert told["mend"]
        assert bool(told["breaks"]) is not bool(told.get("example"))
    text = command.output("explain", "rpc-6")
    assert text.startswith(f"RPC-6  {CATALOGUE['RPC-6'].says}\n")
    assert "votes: {rpc_polling_time_us: 100}" in text
    assert "votes: {rpc_polling_time_us: 0}" in text
    assert command.run("explain", "RPC-6", "core").exit_code == 2


def test_a_native_code_is_explained(command: Command) -> None:
    """Each code of the headers is explained by number and by name; any other number is an error."""
    for code in known_codes():
        told = json.loads(command.output("explain", str(code), "--format", "json"))["code"]
        assert (told["id"], told["says"]) == (str(code), code_name(code))
        assert all(told[label] for label in ("why", "then", "example", "mend", "source"))
    assert command.output("explain", "QNN_HTP_PERF_INFRASTRUCTURE_ERROR_UNSUPPORTED") == command.output(
        "explain", "13004"
    )
    assert "HMX-1" in command.output("explain", "13004")
    assert command.run("explain", "13999").exit_code == 2


def test_a_corner_is_explained(command: Command, tmp_path: Path) -> None:
    """A corner has its number, its place in the order, and two examples: one that lint rejects, one it accepts."""
    for kind in (VoltageCorner, ExpandedCorner):
        for name in ("DISABLE", "SVS", "NOM", min(kind, key=int).name, max(kind, key=int).name):
            told = json.loads(command.output("explain", name, "--format", "json"))["corners"]
            for each in told:
                for files, found in ((each["breaks"], True), (each["mended"], False)):
                    (tmp_path / "mine.yaml").write_text(files["mine.yaml"], encoding="utf-8")
                    rules = command.run("lint", str(tmp_path), columns=500).stdout
                    assert (f"error {each['rule'].split()[0]} " in rules) is found, (name, files)
    turbo = command.output("explain", "TURBO")
    assert "128 DCVS_VOLTAGE_VCORNER_TURBO" in turbo
    assert "NOM_PLUS < TURBO < TURBO_PLUS" in turbo
    assert "sustained_high_performance, high_performance" in turbo
    assert command.run("explain", "TURBO", "core").exit_code == 2


def test_a_word_is_found_by_the_end_of_its_place(command: Command) -> None:
    """``then.after_us`` is explained in the same way as ``after_us``, even if no profile states it."""
    whole = command.output("explain", "relax.then.after_us")
    assert command.output("explain", "then.after_us") == command.output("explain", "after_us") == whole


def test_without_a_name_all_is_listed(command: Command) -> None:
    """The list has every rule, code, corner, state, phase, architecture and SoC, in text and in JSON."""
    told = command.output("explain")
    for name in (*rule_ids(), *codes(), *corners(), "RAISED", "DE-INIT", "V75", "SM8650", *LinkState.__members__):
        assert name in told
    document = json.loads(command.output("explain", "--format", "json"))
    assert {each["id"] for each in document["codes"]} == {str(code) for code in known_codes()}
    assert "TURBO" in document["corners"]
    assert {"id": "RAISED", "says": "the profile's votes are in force"} in document["states and phases"]
    rules = {each["id"] for key, rows in document.items() if key.startswith("rules") for each in rows}
    assert rules == set(rule_ids())


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("SM8650", "soc", "57, the vendor's SoC model number"),
        ("sm8750", "soc", "V79"),
        ("V75", "architecture", "SM8650"),
        ("v68", "architecture", "ceng"),
        ("RAISED", "state", "send the profile's votes"),
        ("unknown", "state", "raise to RAISED"),
        ("well", "state", "to LOST: a call answered 1007"),
        ("HELD", "state", "from DEAD: calls failed"),
        ("INIT", "phase", "the creation of a graph"),
        ("DE-INIT", "phase", "relax.after_deinit_to"),
        ("inference", "phase", "then the inference begins"),
        ("hexagon_assumed", "device model", "raise_call_us"),
    ],
)
def test_a_platform_or_a_word_of_a_session_is_explained(command: Command, name: str, kind: str, said: str) -> None:
    """Each name in a message or a status can be explained."""
    assert said in in_one_line(command.output("explain", name))
    assert list(json.loads(command.output("explain", name, "--format", "json"))) == ["format_version", kind]


@pytest.mark.parametrize(("arch", "lacks"), [("V68", "hmx_v2"), ("V75", "ddr_perf_mode"), ("V81", "dcvs_v3_exp")])
def test_a_platform_says_which_votes_it_lacks(command: Command, arch: str, lacks: str) -> None:
    """The list has the votes that a session on that platform drops."""
    subject = json.loads(command.output("explain", arch, "--format", "json"))["architecture"]
    assert lacks in subject["lacks"].split(", ")
    assert lacks not in subject["votes"].split(", ")


def test_a_profile_named_like_a_chip_is_the_profile(command: Command, tmp_path: Path) -> None:
    """The user's own file takes precedence."""
    (tmp_path / "SM8650.yaml").write_text("profile: SM8650\nextends: burst\n", encoding="utf-8")
    assert "after_inference_us" in command.output("explain", "SM8650", "--profiles", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SM8250", "(SM8250 has no HTP: the vendor lists"),
        ("SM8651", "(did you mean SM8650?)"),
        ("SA8410P", "(the profiles are"),
    ],
)
def test_a_part_number_is_not_answered_with_another_generation(command: Command, name: str, hint: str) -> None:
    """The hint follows the rules of --soc: a chip without an HTP is named, and a guess has the same generation."""
    assert hint in command.run("explain", name).stderr
