"""``htppower explain PROFILE FIELD``: the text for each field, and the exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower import load_profile
from htppower.profiles.fields import limits, profile_fields
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.review.explain.meanings import meaning_of
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.corners import VoltageCorner
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Yield a profile two steps away from burst, in the current folder."""
    monkeypatch.chdir(tmp_path)
    base = "profile: base\nextends: burst\nvotes:\n  dcvs_v3:\n    core: {min: SVS, target: TURBO, max: TURBO}\n"
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    text = "profile: mine\nextends: ./base.yaml\nvotes:\n  dcvs_v3: {core: {min: NOM}}\n  hmx_timeout_us: 500\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    return "mine.yaml"


def test_all_fields_in_short(command: Command) -> None:
    """Without a field, the short list of all fields equals the golden file, power state included."""
    command.assert_golden("explain-burst.txt", "explain", "burst")


def test_a_field_in_full(command: Command, mine: str) -> None:
    """A field is shown with its chain of overrides, its native form, its rules and the vendor's section."""
    command.assert_golden("explain-core.txt", "explain", mine, "dcvs_v3.core")


def test_a_field_as_json(command: Command, mine: str) -> None:
    """The JSON has the same facts, with numbers as numbers."""
    (field,) = json.loads(command.output("explain", mine, "core.min", "--format", "json"))["fields"]
    assert (field["field"], field["value"]) == ("votes.dcvs_v3.core.min", "NOM")
    assert [(each["path"], each["line"], each["value"]) for each in field["chain"]][:2] == [
        ("mine.yaml", 4, "NOM"),
        ("base.yaml", 5, "SVS"),
    ]
    assert field["native"]["fields"] == {"coreVoltageCornerMin": int(VoltageCorner.NOM)}
    assert field["native"]["symbols"] == {"coreVoltageCornerMin": "DCVS_VOLTAGE_VCORNER_NOM"}


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("core", ["votes.dcvs_v3.core"]),
        ("dcvs_v3.core", ["votes.dcvs_v3.core"]),
        ("votes.dcvs_v3.core.max", ["votes.dcvs_v3.core.max"]),
        ("max", ["votes.dcvs_v3.bus.max", "votes.dcvs_v3.core.max"]),
        (
            "relax",
            [f"relax.{name}" for name in ("to", "after_init_us", "after_inference_us", "lowering", "after_deinit_to")],
        ),
        ("after_inference_us", ["relax.after_inference_us"]),
        ("lowered.core", ["lowered.dcvs_v3.core"]),
        ("lowered.dcvs_v3.core.min", ["lowered.dcvs_v3.core.min"]),
        ("after_deinit.core", ["after_deinit.dcvs_v3.core"]),
        ("summary", ["summary"]),
    ],
)
def test_a_field_is_found_by_its_end_or_by_what_it_is_in(command: Command, name: str, fields: list[str]) -> None:
    """The end of a field's name is enough, and the name of a mapping selects all its fields."""
    told = json.loads(command.output("explain", "burst", name, "--format", "json"))["fields"]
    assert [field["field"] for field in told] == fields


@pytest.mark.parametrize(("side", "state"), [("lowered", "relaxed_up_down"), ("after_deinit", "released_up_down")])
def test_a_whole_side(command: Command, side: str, state: str) -> None:
    """``lowered`` selects every field of the power state; a power state can be explained too."""
    lowered = json.loads(command.output("explain", "burst", side, "--format", "json"))["fields"]
    alone = json.loads(command.output("explain", state, "votes", "--format", "json"))["fields"]
    assert [each["field"].partition(".")[2] for each in lowered] == [each["field"].partition(".")[2] for each in alone]
    assert [each["native"] for each in lowered] == [each["native"] for each in alone]


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_what_is_explained_is_what_is_sent(command: Command, name: str) -> None:
    """The native fields of a profile, apart from the id, are exactly the native list of its votes."""
    told = json.loads(command.output("explain", name, "--format", "json"))["fields"]
    explained: dict[str, dict[str, int]] = {}
    for field in told:
        if field["native"] is not None and not field["field"].startswith(("lowered", "after_deinit")):
            explained.setdefault(field["native"]["option"], {}).update(field["native"]["fields"])
    sent = {config.option: dict(config.fields) for config in load_profile(name).votes.native(0)}
    for fields in sent.values():
        fields.pop("contextId", None)
        for flag in ("setSleepDisable", "sleepDisable"):
            fields.pop(flag, None)  # unset in every shipped profile: not shown, since nothing is voted
    assert explained == sent


def test_every_field_has_a_meaning_a_section_and_known_rules() -> None:
    """Every field of a profile is explained."""
    for name in ("burst", "system_settings"):
        for at, value in profile_fields(load_profile(name)):
            for part, _ in limits(at, value):
                meaning = meaning_of(part)
                assert meaning.does.endswith(".")
                assert meaning.section
                assert set(meaning.rules) <= CATALOGUE.keys()
    assert all(meaning_of(("votes", name)).rules for name in BY_FIELD)


@pytest.mark.parametrize(
    ("name", "rules"),
    [("dcvs_v3_exp", {"DCVS-5", "DCVS-6", "HMX-2", "HMX-3", "CENG-2"}), ("dcvs_v3", {"HMX-2", "HMX-3"})],
)
def test_the_rules_on_a_whole_option_are_told_once(
    command: Command, tmp_path: Path, name: str, rules: set[str]
) -> None:
    """If all fields of an option are explained, only the first lists the rules on the whole option."""
    path = tmp_path / "mine.yaml"
    expanded = (
        "{power_mode: PERFORMANCE, sleep_latency_us: 40, sleep_disable: unset, bus: TUR, core: TUR, "
        "core_perf_mode: HIGH, bus_perf_mode: HIGH}"
    )
    other = f"  dcvs_v3: unset\n  dcvs_v3_exp: {expanded}\n" if name == "dcvs_v3_exp" else "  hmx_timeout_us: 500\n"
    path.write_text(f"profile: mine\nextends: burst\nvotes:\n{other}", encoding="utf-8")
    for asked in ((name,), ("votes",), ()):
        told = json.loads(command.output("explain", str(path), *asked, "--format", "json"))["fields"]
        fields = [each for each in told if each["field"].startswith(f"votes.{name}.")]
        assert set(fields[0]["rules"]) >= rules
        assert not rules & {rule for each in fields[1:] for rule in each["rules"]}
    text = command.output("explain", str(path), name)
    for rule in rules:
        assert text.count(f"{rule}  ") == 1


@pytest.mark.parametrize("option", ["ceng", "ceng_exp", "dcvs_v3_exp"])
def test_an_option_that_is_left_out_is_explained(command: Command, option: str) -> None:
    """A named option is shown as unset, with its effect, rules and section; a list of all fields leaves it out."""
    about = BY_FIELD[option]
    for name, field in (
        ("burst", option),
        ("burst", f"votes.{option}"),
        ("burst", f"lowered.{option}"),
        ("relaxed", option),
    ):
        (told,) = json.loads(command.output("explain", name, field, "--format", "json"))["fields"]
        assert (told["value"], told["chain"], told["native"]) == ("unset", [], None)
        assert (told["does"], told["vendor"]) == (about.does, about.section)
        assert about.rule_if_missing in told["rules"]
    text = command.output("explain", "burst", option, columns=200)
    assert text.startswith(f"votes.{option}  unset\n")
    assert "written     nowhere: it is left out, as if unset" in text
    assert "none: unset sends no vote here, and htppower cancels an earlier vote" in text
    every = json.loads(command.output("explain", "burst", "--format", "json"))["fields"]
    assert f"votes.{option}" not in {each["field"] for each in every}


def test_a_power_state_is_explained_and_shown_by_path(command: Command, tmp_path: Path) -> None:
    """A power state's file is recognized by its content, in any folder."""
    file = tmp_path / "low.yaml"
    file.write_text(command.output("show", "relaxed").replace("state: relaxed", "state: low"), encoding="utf-8")
    assert "SVS2" in command.output("explain", str(file), "core")
    assert command.output("show", str(file)).startswith("state: low")


def test_a_default_that_no_file_states_is_said_so(command: Command, tmp_path: Path) -> None:
    """A field that no file states is shown with its default, in short and in full, and has no chain."""
    text = command.output("show", "balanced").replace("  lowering: foreground\n", "")
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    assert "relax.lowering  foreground   (default)" in command.output("explain", str(path))
    assert "written     nowhere: it is the default" in command.output("explain", str(path), "lowering")
    (field,) = json.loads(command.output("explain", str(path), "lowering", "--format", "json"))["fields"]
    assert (field["value"], field["chain"], field["rules"]) == ("foreground", [], ["SUS-3"])


def test_what_nothing_takes_back_is_said_so(command: Command) -> None:
    """An unset control latency is not reset (rule RPC-5); other votes are."""
    for field, name, said in (
        ("rpc_control_latency_us", "relaxed", "nothing cancels an earlier vote (RPC-5)"),
        ("hmx_timeout_us", "burst", "htppower cancels an earlier vote"),
    ):
        assert said in command.output("explain", name, field, columns=200)


def test_bad_input_is_exit_2(command: Command, tmp_path: Path) -> None:
    """For a wrong name or field, the error suggests the nearest; for a wrong file, it gives the place."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("profile: wrong\nextends: burst\nfoo: 1\n", encoding="utf-8")
    for arguments, said in (
        (("brst",), "did you mean burst?"),
        (("burst", "slep_latency_us"), "did you mean sleep_latency_us?"),
        (("burst", "lowered.cor"), "no field"),
        (("burst", "polling"), "did you mean votes.rpc_polling_time_us or votes.adaptive_polling_time_us?"),
        (("burst", "relax.thn"), "did you mean relax.then?"),
        (("burst", "dcvs_v3.coer"), "did you mean dcvs_v3.core?"),
        (("burst", "LOWERED"), "did you mean lowered?"),
        (("burst", "then.after_us"), "it states none; htppower explain then.after_us describes it"),
        (("to.then",), "did you mean then?"),
        (("burst", "sustain"), "leave it out to see all fields"),
        (("burst", ""), "no field"),
        ((str(wrong),), "wrong.yaml:3:1: KEY-1"),
        (("states/none.yaml",), "FILE-1"),
    ):
        result = command.run("explain", *arguments)
        assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), arguments


def test_a_sentence_is_said_once(command: Command) -> None:
    """The effect of a field is explained once, and not again for each power state."""
    said = in_one_line(command.output("explain", "burst"))
    does = meaning_of(("votes", "dcvs_v3", "sleep_latency_us")).does
    assert said.count(" ".join(does.split())) == 1
