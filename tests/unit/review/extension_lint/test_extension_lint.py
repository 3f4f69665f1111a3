"""Lint of the vendor's extension files, besides the examples that each rule has."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from htppower.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

CHAT_APP = {
    "devices": [
        {"soc_model": 69, "dsp_arch": "v79", "cores": [{"core_id": 0, "perf_profile": "burst"}]},
    ],
    "memory": {"mem_type": "shared_buffer"},
}


def linted(command: Command, path: Path, *options: str) -> list[dict[str, Any]]:
    """Return the findings in a path."""
    findings: list[dict[str, Any]] = json.loads(command.run("lint", str(path), "--format", "json", *options).stdout)[
        "findings"
    ]
    return findings


def written(path: Path, data: Any) -> Path:
    """Return the path of a file with this JSON."""
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_a_finding_stands_at_its_value(command: Command, tmp_path: Path) -> None:
    """Line and column are those of the value, in the file's own lines."""
    text = '{\n  "devices": [\n    {"cores": [{"perf_profile": "turbo"}]}\n  ]\n}\n'
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["line"], finding["column"]) == ("EXT-12", 3, 33)


def test_the_files_of_several_socs_are_found_as_import_finds_them(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none is beside the outer file, from the working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json"):
        written(tmp_path / name, CHAT_APP)
    (tmp_path / "outer").mkdir()
    outer = {"backend_extensions": {"shared_library_path": "x", "per_soc_config_file_path": ["a.json", "b.json"]}}
    (finding,) = linted(command, written(tmp_path / "outer" / "outer.json", outer))
    assert finding["rule"] == "EXT-40"


def test_a_dialog_is_told_to_be_one(command: Command, tmp_path: Path) -> None:
    """A dialog of Genie is sent to the command that checks it, and not told to name a profile here."""
    data = {"dialog": {"version": 1, "engine": {"backend": {"type": "QnnHtp", "extensions": "htp.json"}}}}
    (finding,) = linted(command, written(tmp_path / "dialog.json", data))
    assert (finding["rule"], finding["hint"]) == ("EXT-20", "check it with htppower settings --check")
    assert "dialog of Genie" in finding["message"]
    both = {**CHAT_APP, **data}
    (finding,) = linted(command, written(tmp_path / "both.json", both))
    assert (finding["rule"], finding["hint"]) == ("EXT-20", "delete it")


@pytest.mark.parametrize("text", ["", "[]", "7", "// nothing yet"])
def test_json_without_an_object_is_told_as_json(command: Command, tmp_path: Path, text: str) -> None:
    """A named JSON file that says nothing of a profile is no profile that lacks its first line."""
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", text))] == ["EXT-10"]


@pytest.mark.parametrize("text", ['{"devices": [],}', '{"devices": [] // none\n}', "[]", '\ufeff{"devices": []}'])
def test_what_is_no_json_is_said_to_refuse_the_whole_file(command: Command, tmp_path: Path, text: str) -> None:
    """A comment or a comma too many says what it does, as other errors do."""
    found = [each for each in linted(command, written(tmp_path / "htp.json", text)) if each["rule"] == "EXT-10"]
    assert found
    assert all("the vendor's tools refuse the whole file" in each["message"] for each in found)


def test_nesting_that_only_this_parser_refuses_is_not_laid_on_the_vendors(command: Command, tmp_path: Path) -> None:
    """The vendor's parser goes deeper than 100 levels."""
    text = '{"devices": ' + "[" * 120 + "]" * 120 + "}"
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["message"]) == ("EXT-10", "nested deeper than 100 levels")


def test_a_broken_profile_in_json_stays_a_profile(command: Command, tmp_path: Path) -> None:
    """JSON is YAML: what has a key of a profile is told as one."""
    (finding,) = linted(command, written(tmp_path / "mine.json", '{"profile": "mine", "extends": ['))
    assert finding["rule"].startswith("YAML")


@pytest.mark.parametrize("names", [{"config_file_path": "in.json"}, {"per_soc_config_file_path": ["in.json"]}])
def test_an_inner_file_that_is_missing_is_told(command: Command, tmp_path: Path, names: dict[str, Any]) -> None:
    """An outer file that leads nowhere says so at the path, until the file is there."""
    outer = written(tmp_path / "outer.json", {"backend_extensions": names})
    (finding,) = linted(command, outer)
    assert (finding["rule"], finding["hint"]) == ("EXT-23", "check the path")
    assert "'in.json' is no file" in finding["message"]
    written(tmp_path / "in.json", CHAT_APP)
    assert linted(command, outer) == []


def test_a_path_that_no_file_can_have_is_told(command: Command, tmp_path: Path) -> None:
    """A path with a NUL, or longer than the system takes, is a missing file, and no error of ours."""
    for name in ("a\0b", "a" * 5000):
        outer = written(tmp_path / "outer.json", {"backend_extensions": {"config_file_path": name}})
        assert [finding["rule"] for finding in linted(command, outer)] == ["EXT-23"]


def test_a_misspelt_key_is_told_once_at_the_key(command: Command, tmp_path: Path) -> None:
    """A core whose perf_profile is misspelt is not said to lack it, and the finding stands at the key."""
    text = '{"devices": [{"cores": [{"core_id": 0, "perf_profle": "burst"}]}]}'
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["column"]) == ("EXT-14", text.index('"perf_profle"') + 1)
    two = {"devices": [{"cores": [{"perf_profle": "burst"}, {"core_id": 1}]}]}
    found = [finding["rule"] for finding in linted(command, written(tmp_path / "htp.json", two))]
    assert found == ["EXT-14", "EXT-31"]


@pytest.mark.parametrize(
    ("device", "core", "hint"),
    [
        ({"soc_model": "SM8750"}, {}, "write 69"),
        ({"soc_model": "Snapdragon"}, {}, "write a number"),
        ({"soc_model": "69"}, {}, "write it without quotes"),
        ({}, {"rpc_control_latency": "fast"}, "write a number, such as 100"),
        ({}, {"core_id": "0"}, "write it without quotes"),
        ({}, {"ddr_perf_mode": "on"}, "write true or false"),
        ({}, {"ddr_perf_mode": "true"}, "write it without quotes"),
    ],
)
def test_a_text_for_a_number_is_told_which_number(
    command: Command, tmp_path: Path, device: dict[str, Any], core: dict[str, Any], hint: str
) -> None:
    """The hint is what gives JSON again: without quotes only what is a number or a truth, else what to write."""
    data = {"devices": [{**device, "cores": [{"perf_profile": "burst", **core}]}]}
    (finding,) = linted(command, written(tmp_path / "htp.json", data))
    assert (finding["rule"], finding["hint"]) == ("EXT-11", hint)


def test_a_word_for_a_time_is_told_the_range(command: Command, tmp_path: Path) -> None:
    """No quotes make a number of a word; the hint names the range of the key."""
    data = {"devices": [{"cores": [{"perf_profile": "burst", "rpc_polling_time": "fast"}]}]}
    (finding,) = linted(command, written(tmp_path / "htp.json", data))
    assert re.fullmatch(r"write a number from [0-9]+ to [0-9]+.*", finding["hint"])


def test_an_architecture_of_any_length_is_read(command: Command, tmp_path: Path) -> None:
    """More digits than a number has are no architecture of ours, which is told, and no error of ours."""
    data = {"devices": [{"dsp_arch": f"v{'9' * 5000}", "cores": [{"perf_profile": "llm_decode_burst"}]}]}
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", data))] == ["EXT-42"]


def test_a_folder_gives_its_extension_files_and_leaves_other_json_alone(command: Command, tmp_path: Path) -> None:
    """What has a key of an extension file at its top is one, a broken one too; other JSON says nothing."""
    written(tmp_path / "htp.json", CHAT_APP)
    written(tmp_path / "broken.json", '{"devices": [{]}')
    written(tmp_path / "package.json", {"name": "app", "version": "1.0"})
    written(tmp_path / "schema.json", {"$schema": "x", "devices": []})
    found = json.loads(command.run("lint", str(tmp_path), "--format", "json").stdout)
    assert [finding["rule"] for finding in found["findings"]] == ["EXT-10"]
    assert [name.rpartition("/")[2] for name in found["files"]] == ["broken.json", "htp.json"]


def test_a_folder_of_other_json_holds_nothing(command: Command, tmp_path: Path) -> None:
    """A folder without profiles and extension files is the wrong folder."""
    written(tmp_path / "package.json", {"name": "app"})
    assert command.run("lint", str(tmp_path)).exit_code == 2


def test_the_standard_input_is_known_by_its_content() -> None:
    """An extension file on the standard input is linted as one."""
    text = '{"devices": [{"cores": [{"perf_profile": "x"}]}]}'
    result = CliRunner().invoke(main, ["lint", "-", "--format", "json"], input=text)
    assert [finding["rule"] for finding in json.loads(result.stdout)["findings"]] == ["EXT-12"]


def test_a_key_at_the_top_suppresses_a_warning(command: Command, tmp_path: Path) -> None:
    """A suppression names rule, date and reason in the key htppower, which the vendor's parser ignores."""
    ours = {"disable": "EXT-32", "until": "2099-01-01", "because": "long polling is measured"}
    core = {"perf_profile": "burst", "rpc_polling_time": 20000}
    file = {"devices": [{"cores": [core]}], "htppower": [ours]}
    assert linted(command, written(tmp_path / "htp.json", file)) == []
    file["htppower"] = [{**ours, "because": ""}]
    found = [finding["rule"] for finding in linted(command, written(tmp_path / "htp.json", file))]
    assert found == ["EXT-32", "SUP-1"]
    file["htppower"] = [{**ours, "disable": "EXT-20"}]
    assert "SUP-3" in [finding["rule"] for finding in linted(command, written(tmp_path / "htp.json", file))]


def test_an_error_is_not_suppressed(command: Command, tmp_path: Path) -> None:
    """What refuses the file refuses it, whatever a suppression says."""
    ours = {"disable": "EXT-12", "until": "2099-01-01", "because": "never mind"}
    file = {"devices": [{"cores": [{"perf_profile": "x"}]}], "htppower": [ours]}
    found = {finding["rule"] for finding in linted(command, written(tmp_path / "htp.json", file))}
    assert {"EXT-12", "SUP-1"} <= found


@pytest.mark.parametrize(("prepared", "rules"), [("raw", ["EXT-39"]), ("memhandle", [])])
def test_how_a_context_was_prepared_is_read_of_its_json(
    command: Command, tmp_path: Path, prepared: str, rules: list[str]
) -> None:
    """The memory of the tensors in the JSON of a context is held against mem_type."""
    memory = {"raw": "QNN_TENSORMEMTYPE_RAW", "memhandle": "QNN_TENSORMEMTYPE_MEMHANDLE"}[prepared]
    context = {"info": {"graphs": [{"info": {"graphInputs": [{"info": {"name": "x", "memType": memory}}]}}]}}
    about = written(tmp_path / "context.json", context)
    file = written(tmp_path / "htp.json", CHAT_APP)
    assert [each["rule"] for each in linted(command, file, "--prepared", str(about))] == rules


def test_fix_leaves_extension_files_as_they_are(command: Command, tmp_path: Path) -> None:
    """--fix mends profiles; an extension file keeps every byte."""
    file = written(tmp_path / "htp.json", '{"devices": [{"cores": [{"perf_profile": "burts"}]}]}')
    before = file.read_bytes()
    command.run("lint", str(file), "--fix")
    assert file.read_bytes() == before


def corners(name: str) -> dict[str, Any]:
    """Return an item that raises the clocks to a corner."""
    keys = [f"{clock}VoltageCorner{limit}" for clock in ("bus", "core") for limit in ("Min", "Target", "Max")]
    states = ["init_start", "inference_start", "deinit_start", "init_done", "inference_done", "deinit_done"]
    return {"graphState": states, "dcvsControl": dict.fromkeys(keys, f"DCVS_VOLTAGE_VCORNER_{name}")}


@pytest.mark.parametrize(
    ("arch", "core", "said"),
    [
        ("v81", {"perf_profile": "burst", "ddr_perf_mode": True}, []),
        ("v81", {"perf_profile": "burst", "ddr_perf_mode": False}, []),
        ("v79", {"perf_profile": "burst", "ddr_perf_mode": True}, ["v79, which has no such mode"]),
        ("v81", {"perf_profile": "high_performance", "ddr_perf_mode": True}, ["and the bus is at TURBO:"]),
        (
            "v81",
            {"perf_profile": "balanced", "ddr_perf_mode": True},
            ["and the bus is at NOM_PLUS and polling is off:"],
        ),
        ("v81", {"perf_profile": "burst", "rpc_polling_time": 0, "ddr_perf_mode": True}, ["and polling is off:"]),
        ("v81", {"perf_profile": "system_settings", "ddr_perf_mode": True}, ["no bus corner is voted and polling"]),
        (
            "v81",
            {"perf_profile": "custom", "ddr_perf_mode": True, "custom": [corners("TURBO")]},
            ["and the bus is at TURBO and polling is off:"],
        ),
        ("v73", {"perf_profile": "burst", "hmxControl": {"hmxPickDefault": 0}}, ["hmxControl on v73"]),
        ("v73", {"perf_profile": "burst", "hmxControl": {"hmxPickDefault": 1}}, []),
        ("v75", {"perf_profile": "burst", "hmxControl": {"hmxPickDefault": 0}}, []),
        ("v89", {"perf_profile": "burst", "hmxControl": {"hmxPickDefault": 0}}, ["hmxControl on v89"]),
        (
            "v69",
            {
                "perf_profile": "custom",
                "custom": [
                    {
                        **corners("SVS"),
                        "cengControl": dict.fromkeys(
                            ("cengVoltageCornerMin", "cengVoltageCornerTarget", "cengVoltageCornerMax"),
                            "DCVS_VOLTAGE_VCORNER_SVS",
                        ),
                    }
                ],
            },
            ["cengControl on v69"],
        ),
    ],
)
def test_what_the_chip_lacks_is_told(
    command: Command, tmp_path: Path, arch: str, core: dict[str, Any], said: list[str]
) -> None:
    """By the table of the platform's votes, and of the DDR mode by the bus and polling that it needs."""
    file = written(tmp_path / "htp.json", {"devices": [{"dsp_arch": arch, "cores": [core]}]})
    found = [each["message"] for each in linted(command, file) if each["rule"] == "EXT-30"]
    assert len(found) == len(said)
    assert all(words in message for words, message in zip(said, found, strict=True))


@pytest.mark.parametrize(
    ("device", "core", "rules"),
    [
        ({"soc_model": 999}, {}, ["EXT-42"]),
        ({"soc_id": 999}, {}, ["EXT-42", "EXT-51"]),
        ({"soc_model": 0}, {}, []),
        ({"my_soc_model": 999}, {}, ["EXT-24", "EXT-42"]),
        ({"dsp_arch": "v90"}, {}, ["EXT-42"]),
        ({"core_id": [0, 1, 7]}, {}, ["EXT-53", "EXT-43"]),
        ({"device_id": 9}, {"core_id": 3}, ["EXT-43", "EXT-53"]),
        ({}, {"core_id": 4294967295}, ["EXT-43"]),
        ({}, {"my_core_id": 7}, ["EXT-24", "EXT-43"]),
    ],
)
def test_chips_and_cores_that_nobody_has_are_told(
    command: Command, tmp_path: Path, device: dict[str, Any], core: dict[str, Any], rules: list[str]
) -> None:
    """As warnings, since the parser takes them; a core that some chips have is a note. 0 is every chip's."""
    data = {"devices": [{**device, "cores": [{"perf_profile": "burst", **core}]}]}
    found = linted(command, written(tmp_path / "htp.json", data), "--notes")
    assert sorted(each["rule"] for each in found) == sorted(rules)
    assert all(each["severity"] in ("warning", "note") for each in found)
