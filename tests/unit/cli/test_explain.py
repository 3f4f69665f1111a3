"""``htppower explain``: what it says of each field, and its exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from htppower import load_profile
from htppower.profiles.fields import limits, profile_fields
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.review.explain.meanings import meaning_of
from htppower.review.lint.catalogue import CATALOGUE
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import code_name, known_codes
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command


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
    """Without a field every one is told in short, the power state's too: as it was reviewed."""
    command.assert_golden("explain-burst.txt", "explain", "burst")


def test_a_field_in_full(command: Command, mine: str) -> None:
    """A field is told with its chain of overrides, its native form, its rules and the vendor's section."""
    command.assert_golden("explain-core.txt", "explain", mine, "dcvs_v3.core")


def test_a_field_as_json(command: Command, mine: str) -> None:
    """The JSON has the same, with numbers as numbers."""
    (field,) = json.loads(command.output("explain", mine, "core.min", "--format", "json"))["fields"]
    assert (field["field"], field["value"]) == ("votes.dcvs_v3.core.min", "NOM")
    assert [(each["path"], each["line"], each["value"]) for each in field["chain"]][:2] == [
        ("mine.yaml", 4, "NOM"),
        ("base.yaml", 5, "SVS"),
    ]
    assert field["native"]["fields"] == {"coreVoltageCornerMin": int(VoltageCorner.NOM)}
    assert field["native"]["symbols"] == {"coreVoltageCornerMin": "DCVS_VOLTAGE_VCORNER_NOM"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("13010", "the codes are 0, 1000, "),
        ("-1", "the codes are 0, 1000, "),
        ("dcvs-99", "one of DCVS-1, DCVS-2, "),
        ("turbo", "did you mean TURBO?"),
        ("QNN_DEVICE_ERROR_INVALID_CONFI", "did you mean QNN_DEVICE_ERROR_INVALID_CONFIG?"),
        ("brust", "did you mean burst?"),
        ("nothing-like-it", "the profiles are burst, "),
        ("9" * 5000, "the codes are 0, "),
        ("\u00b2", "the profiles are burst, "),
        ("core", "a field needs a profile: htppower explain burst core)"),
        ("dcvs_v3.core.min", "a field needs a profile: htppower explain burst dcvs_v3.core.min)"),
    ],
)
def test_what_nothing_is_called_is_met_by_the_nearest_of_its_kind(command: Command, name: str, hint: str) -> None:
    """A code or a field is no misspelt profile: the hint is of what was asked for."""
    result = command.run("explain", "--", name)
    assert (result.exit_code, f"({hint}" in result.stderr) == (2, True)


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
    """A name may leave out what comes before, and a mapping stands for its fields."""
    told = json.loads(command.output("explain", "burst", name, "--format", "json"))["fields"]
    assert [field["field"] for field in told] == fields


@pytest.mark.parametrize(("side", "state"), [("lowered", "relaxed_up_down"), ("after_deinit", "released_up_down")])
def test_a_whole_side(command: Command, side: str, state: str) -> None:
    """``lowered`` is every field of the power state, and a power state can be explained by itself."""
    lowered = json.loads(command.output("explain", "burst", side, "--format", "json"))["fields"]
    alone = json.loads(command.output("explain", state, "votes", "--format", "json"))["fields"]
    assert [each["field"].partition(".")[2] for each in lowered] == [each["field"].partition(".")[2] for each in alone]
    assert [each["native"] for each in lowered] == [each["native"] for each in alone]


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_what_is_explained_is_what_is_sent(command: Command, name: str) -> None:
    """The native fields of a profile, taken together, are exactly the native list of its votes, the id aside."""
    told = json.loads(command.output("explain", name, "--format", "json"))["fields"]
    explained: dict[str, dict[str, int]] = {}
    for field in told:
        if field["native"] is not None and not field["field"].startswith(("lowered", "after_deinit")):
            explained.setdefault(field["native"]["option"], {}).update(field["native"]["fields"])
    sent = {config.option: dict(config.fields) for config in load_profile(name).votes.native(0)}
    for fields in sent.values():
        fields.pop("contextId", None)
        for flag in ("setSleepDisable", "sleepDisable"):
            fields.pop(flag, None)  # unset in every shipped profile: not told, since nothing is voted
    assert explained == sent


def test_every_field_has_a_meaning_a_section_and_known_rules() -> None:
    """Nothing that a profile can state is left unexplained."""
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
    """Where the fields of an option are explained together, the first comes with the rules on all of the option."""
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
    """It is told as unset where it is asked for, with what it does, its rules and section; else it is not listed."""
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
    assert "none: unset casts no vote here, and htppower takes an earlier one back" in text
    every = json.loads(command.output("explain", "burst", "--format", "json"))["fields"]
    assert f"votes.{option}" not in {each["field"] for each in every}


def test_a_rule_names_fields_that_there_are() -> None:
    """Each field that a rule names can be explained, and is explained with that rule."""
    for rule in CATALOGUE.values():
        for at in rule.fields:
            assert rule.id in meaning_of(at).rules


def test_a_rule_is_explained(command: Command) -> None:
    """The id of a rule, in either case, is explained: why, what breaks it, the mend, its weight and source."""
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
    """Each code that the headers name is explained, by its number and by its name; another is no name of anything."""
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
    """A corner is told with its number, its place in the order, and an example that lint finds wrong and then right."""
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


def test_a_power_state_is_explained_and_shown_by_path(command: Command, tmp_path: Path) -> None:
    """A power state's file is known for what it is, wherever it stands."""
    file = tmp_path / "low.yaml"
    file.write_text(command.output("show", "relaxed").replace("state: relaxed", "state: low"), encoding="utf-8")
    assert "SVS2" in command.output("explain", str(file), "core")
    assert command.output("show", str(file)).startswith("state: low")


def test_a_default_that_no_file_states_is_said_so(command: Command, tmp_path: Path) -> None:
    """A field that was left out is told with its default, in short and in full, and has no chain."""
    text = command.output("show", "balanced").replace("  lowering: foreground\n", "")
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    assert "relax.lowering  foreground   (default)" in command.output("explain", str(path))
    assert "written     nowhere: it is the default" in command.output("explain", str(path), "lowering")
    (field,) = json.loads(command.output("explain", str(path), "lowering", "--format", "json"))["fields"]
    assert (field["value"], field["chain"], field["rules"]) == ("foreground", [], ["SUS-3"])


def test_what_nothing_takes_back_is_said_so(command: Command) -> None:
    """A control latency that is unset is not taken back (rule RPC-5); other votes are."""
    for field, name, said in (
        ("rpc_control_latency_us", "relaxed", "nothing takes an earlier one back (RPC-5)"),
        ("hmx_timeout_us", "burst", "htppower takes an earlier one back"),
    ):
        assert said in command.output("explain", name, field, columns=200)


def test_a_word_is_found_by_the_end_of_its_place(command: Command) -> None:
    """``then.after_us`` is told of as ``after_us`` is, without a profile that states it."""
    whole = command.output("explain", "relax.then.after_us")
    assert command.output("explain", "then.after_us") == command.output("explain", "after_us") == whole


def test_bad_input_is_exit_2(command: Command, tmp_path: Path) -> None:
    """A wrong name or field is told with the nearest, a wrong file with its place."""
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
        (("burst", "then.after_us"), "it states none; htppower explain then.after_us tells of it"),
        (("to.then",), "did you mean then?"),
        (("burst", "sustain"), "leave it out to see all fields"),
        (("burst", ""), "no field"),
        ((str(wrong),), "wrong.yaml:3:1: KEY-1"),
        (("states/none.yaml",), "FILE-1"),
    ):
        result = command.run("explain", *arguments)
        assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), arguments


@pytest.fixture
def learning(tmp_path: Path) -> str:
    """Return the path of a profile whose time is learnt, with a second power state."""
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
    """Each field has its value, also where that is a default, and says what it does."""
    (field,) = json.loads(command.output("explain", learning, name, "--format", "json"))["fields"]
    assert field["value"] == value
    assert field["does"].endswith(".")


def test_a_mapping_of_a_learnt_time_stands_for_its_numbers(command: Command, learning: str) -> None:
    """``adaptive`` and ``then`` are no fields: what is in them is told."""
    for name, fields in (
        ("after_inference_us.adaptive", ["break_even_us", "least_us", "most_us"]),
        ("then", ["to", "after_us"]),
    ):
        told = json.loads(command.output("explain", learning, name, "--format", "json"))["fields"]
        assert [each["field"].rpartition(".")[2] for each in told] == fields


def test_a_number_that_a_mapping_replaces_is_overridden(command: Command, learning: str) -> None:
    """A time that is learnt takes all of an inherited number's place; its rules are those on each of its numbers."""
    told = command.output("explain", learning, "after_inference_us")
    assert "300000 (overridden)" in told
    assert all(rule in told for rule in ("SUS-1", "SUS-3", "SUS-4", "SUS-5", "SUS-6", "REV-8"))
    assert "SUS-6" not in command.output("explain", "burst", "after_inference_us")


def test_what_is_left_out_of_a_learnt_time_is_written_nowhere(command: Command, learning: str, tmp_path: Path) -> None:
    """A number that was overridden states no key of what is learnt in its place; nor does a goal that it overrode."""
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
    """A profile without them has the fields that most leave out, and lists them only where they are named."""
    told = json.loads(command.output("explain", "burst", "then", "--format", "json"))["fields"]
    assert [(each["field"], each["value"], each["chain"]) for each in told] == [("relax.then", "unset", [])]
    assert "relax.then" not in command.output("explain", "burst")
