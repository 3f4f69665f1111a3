"""Lint of the vendor's extension files, beyond the examples of each rule."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from support.linted_extensions import linted, written

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def test_a_finding_stands_at_its_value(command: Command, tmp_path: Path) -> None:
    """The finding has the line and column of the value in the file."""
    text = '{\n  "devices": [\n    {"cores": [{"perf_profile": "turbo"}]}\n  ]\n}\n'
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["line"], finding["column"]) == ("EXT-12", 3, 33)


@pytest.mark.parametrize("text", ['{"devices": [],}', '{"devices": [] // none\n}', "[]", '\ufeff{"devices": []}'])
def test_what_is_no_json_is_said_to_refuse_the_whole_file(command: Command, tmp_path: Path, text: str) -> None:
    """For a comment or an extra comma, the error says that the whole file is refused."""
    found = [each for each in linted(command, written(tmp_path / "htp.json", text)) if each["rule"] == "EXT-10"]
    assert found
    assert all("the vendor's tools refuse the whole file" in each["message"] for each in found)


def test_nesting_that_only_this_parser_refuses_is_not_laid_on_the_vendors(command: Command, tmp_path: Path) -> None:
    """The vendor's parser accepts more than 100 levels."""
    text = '{"devices": ' + "[" * 120 + "]" * 120 + "}"
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["message"]) == ("EXT-10", "nested deeper than 100 levels")


def test_a_misspelt_key_is_told_once_at_the_key(command: Command, tmp_path: Path) -> None:
    """If perf_profile is misspelt, the finding is at the key, and no finding says that it is missing."""
    text = '{"devices": [{"cores": [{"core_id": 0, "perf_profle": "burst"}]}]}'
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["column"]) == ("EXT-14", text.index('"perf_profle"') + 1)
    two = {"devices": [{"cores": [{"perf_profle": "burst"}, {"core_id": 1}]}]}
    found = [finding["rule"] for finding in linted(command, written(tmp_path / "htp.json", two))]
    assert found == ["EXT-14", "EXT-31"]


def test_what_a_later_core_says_otherwise_is_told_where_it_is_not_voted(command: Command, tmp_path: Path) -> None:
    """The finding is at the key of each earlier core, by its value; ids and other devices may differ."""
    cores = [{"core_id": 0, "rpc_polling_time": 5}, {"core_id": 1, "perf_profile": "burst", "rpc_polling_time": 7}]
    text = json.dumps({"devices": [{"cores": [*cores, {"core_id": 2, "rpc_polling_time": 7}]}]})
    (finding,) = linted(command, written(tmp_path / "htp.json", text))
    assert (finding["rule"], finding["column"]) == ("EXT-25", text.index('"rpc_polling_time"') + 1)
    assert finding["message"] == "rpc_polling_time 5 is not voted: a later core has 7"
    apart = {"devices": [{"cores": [{"perf_profile": profile}]} for profile in ("burst", "balanced")]}
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", apart))] == ["EXT-22"]


@pytest.mark.parametrize(("beside", "told"), [({}, ["EXT-31", "EXT-31"]), ({"perf_profile": "burst"}, [])])
def test_the_profile_of_one_core_is_that_of_all(
    command: Command, tmp_path: Path, beside: dict[str, str], told: list[str]
) -> None:
    """A core without a profile is high_performance only if no core of the device has a profile."""
    cores = [{"core_id": 0}, {"core_id": 1, **beside}]
    found = linted(command, written(tmp_path / "htp.json", {"devices": [{"cores": cores}]}))
    assert [each["rule"] for each in found] == told


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
    """The hint shows valid JSON: for a number or a boolean the text without quotes, else an example."""
    data = {"devices": [{**device, "cores": [{"perf_profile": "burst", **core}]}]}
    (finding,) = linted(command, written(tmp_path / "htp.json", data))
    assert (finding["rule"], finding["hint"]) == ("EXT-11", hint)


@pytest.mark.parametrize(
    ("whole", "hint"),
    [
        (
            {"graphs": {"vtcm_mb": 8}},
            "put it into a list, as [{...}]: an object without a list is the form of SDK 2.20 and older",
        ),
        ({"devices": {"cores": [{"perf_profile": "burst"}]}}, "put it into a list, as [{...}]"),
        ({"devices": [{"cores": {"perf_profile": "burst"}}]}, "put it into a list, as [{...}]"),
        ({"graphs": [{"graph_names": "model"}], "devices": []}, "put it into a list"),
    ],
)
def test_what_belongs_into_a_list_is_told_to_be_put_there(
    command: Command, tmp_path: Path, whole: dict[str, Any], hint: str
) -> None:
    """The hint puts a single object, text or number into a list."""
    (finding,) = (each for each in linted(command, written(tmp_path / "htp.json", whole)) if each["rule"] == "EXT-11")
    assert finding["hint"] == hint


def test_a_word_for_a_time_is_told_the_range(command: Command, tmp_path: Path) -> None:
    """A word is not a number even without quotes; the hint names the range of the key."""
    data = {"devices": [{"cores": [{"perf_profile": "burst", "rpc_polling_time": "fast"}]}]}
    (finding,) = linted(command, written(tmp_path / "htp.json", data))
    assert re.fullmatch(r"write a number from [0-9]+ to [0-9]+.*", finding["hint"])


def test_a_key_at_the_top_suppresses_a_warning(command: Command, tmp_path: Path) -> None:
    """A suppression in the key htppower, which the vendor's parser ignores, has rule, date and reason."""
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
    """A suppression has no effect on an error that refuses the file."""
    ours = {"disable": "EXT-12", "until": "2099-01-01", "because": "never mind"}
    file = {"devices": [{"cores": [{"perf_profile": "x"}]}], "htppower": [ours]}
    found = {finding["rule"] for finding in linted(command, written(tmp_path / "htp.json", file))}
    assert {"EXT-12", "SUP-1"} <= found


def test_fix_leaves_extension_files_as_they_are(command: Command, tmp_path: Path) -> None:
    """--fix mends profiles; an extension file stays the same, byte for byte."""
    file = written(tmp_path / "htp.json", '{"devices": [{"cores": [{"perf_profile": "burts"}]}]}')
    before = file.read_bytes()
    command.run("lint", str(file), "--fix")
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        ({"x": {"devices": [{"cores": [{"perf_profile": "burst"}]}]}}, ["EXT-24"]),
        ({"devices": [{"xcores": [{"perf_profile": "burst"}]}]}, ["EXT-24"]),
        ({"x": {"devices": [{"cores": [{"perf_profile": "burst", "rpc_polling_time": 20000}]}]}}, ["EXT-24", "EXT-32"]),
        ({"devices": [{"device_id": 0}, {"cores": [{"perf_profile": "burst"}]}]}, ["EXT-31", "EXT-22"]),
    ],
)
def test_no_profile_is_missing_where_the_voter_finds_one_elsewhere(
    command: Command, tmp_path: Path, whole: dict[str, Any], told: list[str]
) -> None:
    """A profile under an unknown key is not missing; the first device lacks one even if a later device has it."""
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", whole))] == told


@pytest.mark.parametrize(
    ("cores", "told"),
    [
        ([{"perf_profile": "burst", "rpc_polling_time": 0, "adaptive_polling_time": 1000}], "with rpc_polling_time 0"),
        ([{"perf_profile": "balanced", "adaptive_polling_time": 1000}], "with balanced"),
        ([{"perf_profile": "burst", "adaptive_polling_time": 1000}, {"perf_profile": "balanced"}], "with balanced"),
        ([{"perf_profile": "burst", "adaptive_polling_time": 1000}], ""),
        ([{"perf_profile": "balanced", "rpc_polling_time": 55, "adaptive_polling_time": 1000}], ""),
        ([{"perf_profile": "balanced", "adaptive_polling_time": 0}], ""),
    ],
)
def test_adaptive_polling_without_polling_is_told(
    command: Command, tmp_path: Path, cores: list[dict[str, Any]], told: str
) -> None:
    """The vendor's voter does not cast it (measured), whether the profile has no polling or a key turns it off."""
    found = linted(command, written(tmp_path / "a.json", {"devices": [{"cores": cores}]}))
    adaptive = [each["message"] for each in found if each["rule"] == "EXT-44"]
    assert len(adaptive) == bool(told)
    assert all(told in message for message in adaptive)


@pytest.mark.parametrize(
    "devices", ["[1]", "[[]]", "1", '{"cores": 1}', '[{"cores": [1]}]', "[null]", '["x", {"cores": []}]']
)
@pytest.mark.parametrize(
    "beside", ["", ', "backend_extensions": {"config_file_path": "b.json"}', ', "x": {"devices": []}']
)
def test_devices_of_any_form_are_linted(command: Command, tmp_path: Path, devices: str, beside: str) -> None:
    """A device may be anything, even not an object, in an inner and in an outer file."""
    done = command.run("lint", str(written(tmp_path / "a.json", f'{{"devices": {devices}{beside}}}')), "--notes")
    assert done.exit_code in (0, 1)
    assert "EXT-" in done.stdout


@pytest.mark.parametrize("devices", [{"cores": [{"perf_profile": "burst"}]}, [{"cores": {"perf_profile": "burst"}}]])
def test_cores_in_an_object_are_refused_and_not_missing(command: Command, tmp_path: Path, devices: Any) -> None:
    """The finding is about the list, and does not say that the file has no cores."""
    found = linted(command, written(tmp_path / "htp.json", {"devices": devices}))
    assert [each["rule"] for each in found] == ["EXT-11"]
