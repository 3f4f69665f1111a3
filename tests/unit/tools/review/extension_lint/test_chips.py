"""Lint of the chips, the cores and the memory that an extension file is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.extension_mutations import CHAT_APP
from support.imported import DONE, START, item
from support.linted_extensions import linted, written

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def test_an_architecture_of_any_length_is_read(command: Command, tmp_path: Path) -> None:
    """A number with too many digits is an unknown architecture, and not an internal error."""
    data = {"devices": [{"dsp_arch": f"v{'9' * 5000}", "cores": [{"perf_profile": "llm_decode_burst"}]}]}
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", data))] == ["EXT-42"]


@pytest.mark.parametrize(("prepared", "rules"), [("raw", ["EXT-39"]), ("memhandle", [])])
def test_how_a_context_was_prepared_is_read_of_its_json(
    command: Command, tmp_path: Path, prepared: str, rules: list[str]
) -> None:
    """The memory of the tensors in the JSON of a context is compared with mem_type."""
    memory = {"raw": "QNN_TENSORMEMTYPE_RAW", "memhandle": "QNN_TENSORMEMTYPE_MEMHANDLE"}[prepared]
    context = {"info": {"graphs": [{"info": {"graphInputs": [{"info": {"name": "x", "memType": memory}}]}}]}}
    about = written(tmp_path / "context.json", context)
    file = written(tmp_path / "htp.json", CHAT_APP)
    assert [each["rule"] for each in linted(command, file, "--prepared", str(about))] == rules


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
            {
                "perf_profile": "custom",
                "ddr_perf_mode": True,
                "custom": [item([*START, *DONE, "deinit_done"], "TURBO")],
            },
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
                        **item([*START, *DONE, "deinit_done"], "SVS"),
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
    """The platform's table decides; the DDR mode also needs a bus vote and polling."""
    file = written(tmp_path / "htp.json", {"devices": [{"dsp_arch": arch, "cores": [core]}]})
    found = [each["message"] for each in linted(command, file) if each["rule"] == "EXT-30"]
    assert len(found) == len(said)
    assert all(words in message for words, message in zip(said, found, strict=True))


@pytest.mark.parametrize(
    ("cores", "rules"),
    [
        (
            [
                {"perf_profile": "custom", "custom": [item(START, "SVS"), item(DONE, "SVS2")]},
                {"core_id": 1, "custom": [item(["deinit_start"], "SVS"), item(["deinit_done"], "SVS2")]},
            ],
            [],
        ),
        ([{"ddr_perf_mode": True}, {"core_id": 1, "perf_profile": "burst"}], []),
        ([{"ddr_perf_mode": True, "perf_profile": "burst"}, {"core_id": 1, "perf_profile": "balanced"}], ["EXT-30"]),
        ([{"ddr_perf_mode": True, "perf_profile": "burst"}, {"core_id": 1, "ddr_perf_mode": False}], []),
        ([{"ddr_perf_mode": True, "perf_profile": "burst"}, {"core_id": 1, "rpc_polling_time": 0}], ["EXT-30"]),
        ([{"perf_profile": "llm_decode_burst"}, {"core_id": 1, "perf_profile": "burst"}], []),
        ([{"perf_profile": "burst"}, {"core_id": 1, "perf_profile": "llm_decode_burst"}], ["EXT-36"]),
    ],
)
def test_what_the_cores_of_a_device_lack_they_lack_together(
    command: Command, tmp_path: Path, cores: list[dict[str, Any]], rules: list[str]
) -> None:
    """The vendor's voter takes the last value of each key for all cores."""
    arch = "v75" if "llm_decode" in str(cores) else "v81"
    file = written(tmp_path / "htp.json", {"devices": [{"dsp_arch": arch, "cores": cores}]})
    found = [each["rule"] for each in linted(command, file) if each["rule"] in ("EXT-30", "EXT-33", "EXT-36")]
    assert found == rules


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
    """An unknown chip or core is a warning, and a core of only some chips is a note; soc_model 0 means any chip."""
    data = {"devices": [{**device, "cores": [{"perf_profile": "burst", **core}]}]}
    found = linted(command, written(tmp_path / "htp.json", data), "--notes")
    assert sorted(each["rule"] for each in found) == sorted(rules)
    assert all(each["severity"] in ("warning", "note") for each in found)


def test_the_kernels_number_of_a_chip_is_answered_with_the_vendors(command: Command, tmp_path: Path) -> None:
    """660 belongs to SM8850, whose model number is 87; another number has no hint."""
    for number, hint in ((660, "write 87, the model number of SM8850; 660 is the kernel's"), (888, "such as 69")):
        (found,) = linted(
            command,
            written(tmp_path / "htp.json", {"devices": [{"soc_model": number, "cores": [{"perf_profile": "burst"}]}]}),
        )
        assert (found["rule"], hint in found["hint"]) == ("EXT-42", True)
