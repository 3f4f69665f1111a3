"""The texts of the rules on the vendor's extension files: why, an example of a breach, the mend."""

from __future__ import annotations

import json
from typing import Any

from htppower.tools.review.explain.texts.rule_text import RuleText

_FILE = "htp.json"
_REFUSED = "The vendor's tools refuse the whole file: Genie prints one warning and runs without any vote."
_BURST: dict[str, Any] = {"perf_profile": "burst"}
_SVS, _NOM, _MAX = (f"DCVS_VOLTAGE_VCORNER_{corner}" for corner in ("SVS", "NOM", "MAX_VOLTAGE_CORNER"))
_DONE = ["init_done", "inference_done", "deinit_done"]
_START = ["init_start", "inference_start", "deinit_start"]


def _file(data: Any) -> dict[str, str]:
    return {_FILE: (data if isinstance(data, str) else json.dumps(data)) + "\n"}


def _core(**keys: Any) -> dict[str, str]:
    """Return a file with one core that has perf_profile burst and these keys."""
    return _file({"devices": [{"cores": [{**_BURST, **keys}]}]})


def _device(**keys: Any) -> dict[str, str]:
    return _file({"devices": [{**keys, "cores": [_BURST]}]})


def _clocks(lowest: str = _SVS, highest: str = _SVS) -> dict[str, str]:
    sides = {"Min": lowest, "Target": lowest, "Max": highest}
    return {f"{clock}VoltageCorner{limit}": corner for clock in ("bus", "core") for limit, corner in sides.items()}


def _custom(*items: dict[str, Any], profile: str = "custom") -> dict[str, str]:
    return _file({"devices": [{"cores": [{"perf_profile": profile, "custom": list(items)}]}]})


def _item(states: list[str], **more: Any) -> dict[str, Any]:
    return {"graphState": states, "dcvsControl": _clocks(), **more}


_EVERY = (_item(_START), _item(_DONE))
_SHARING = {"reference_weight_sharing_enabled": True}
_GRAPH = {"graph_names": ["model"]}
_OUTER = {"backend_extensions": {"config_file_path": "inner.json"}}
_INNER = {"inner.json": json.dumps({"devices": [{"cores": [_BURST]}]}) + "\n"}
_TWO_SOCS = {"backend_extensions": {"per_soc_config_file_path": ["one.json", "two.json"]}}


def _of_soc(model: int, *, shares: bool = True) -> str:
    data = {"devices": [{"soc_model": model, "cores": [_BURST]}], "context": _SHARING if shares else {}}
    return json.dumps(data) + "\n"


EXTENSION_TEXTS = {
    "EXT-10": RuleText(
        f"The vendor's parser takes no comments, no commas before a bracket, no NaN and no byte order mark. {_REFUSED}",
        "Write plain JSON.",
        _file('{"devices": [{"cores": [{"perf_profile": "burst"},]}]}'),
        _core(),
    ),
    "EXT-11": RuleText(
        f"A number in quotes is a text, and 1 is not true. {_REFUSED}",
        "Write a value of the key's type.",
        _core(rpc_polling_time="9999"),
        _core(rpc_polling_time=9999),
    ),
    "EXT-12": RuleText(
        f"Words are compared letter by letter. {_REFUSED}",
        "Write the word as the vendor writes it.",
        _file({"devices": [{"cores": [{"perf_profile": "BURST"}]}]}),
        _core(),
    ),
    "EXT-13": RuleText(
        f"A number that does not fit is not shortened. {_REFUSED}",
        "Write a number in the range.",
        _core(rpc_control_latency=-1),
        _core(rpc_control_latency=100),
    ),
    "EXT-14": RuleText(
        f"In graphs and cores even a note to the reader is an unknown key. {_REFUSED}",
        "Delete it, or put it at the top, where unknown keys are ignored.",
        _core(_comment="as fast as it goes"),
        _core(),
    ),
    "EXT-15": RuleText(
        f"An item for no state, or for one state twice, means nothing. {_REFUSED}",
        "Name each state once.",
        _custom(_item([*_START, "init_start"]), _item(_DONE)),
        _custom(*_EVERY),
    ),
    "EXT-16": RuleText(
        f"Clock votes have six corners, and none has a default. {_REFUSED}",
        "Add what is missing.",
        _custom(_item(_START, dcvsControl={"busVoltageCornerMin": _SVS}), _item(_DONE)),
        _custom(*_EVERY),
    ),
    "EXT-17": RuleText(
        f"The profile custom consists of its items, and no other profile has items. {_REFUSED}",
        "Write perf_profile custom next to custom.",
        _custom(*_EVERY, profile="burst"),
        _custom(*_EVERY),
    ),
    "EXT-18": RuleText(
        f"The parser miscounts objects without values. {_REFUSED}",
        "Delete the empty object, or put it last.",
        _file({"graphs": [{}, _GRAPH], "devices": [{"cores": [_BURST]}]}),
        _file({"graphs": [_GRAPH], "devices": [{"cores": [_BURST]}]}),
    ),
    "EXT-20": RuleText(
        "A key in the wrong place is silently ignored: perf_profile in a device does not change the profile.",
        "Write the key where it is read.",
        _device(perf_profile="power_saver"),
        _device(),
    ),
    "EXT-21": RuleText(
        "The vendor's parser takes the first value, most other readers of JSON the last.",
        "Keep one.",
        _file('{"devices": [{"device_id": 0, "device_id": 0, "cores": [{"perf_profile": "burst"}]}]}'),
        _device(device_id=0),
    ),
    "EXT-22": RuleText(
        "The settings of the second device are never used, and no message reports it.",
        "Write a file for each device.",
        _file({"devices": [{"device_id": 0, "cores": [_BURST]}, {"device_id": 1, "cores": [_BURST]}]}),
        _device(device_id=0),
    ),
    "EXT-23": RuleText(
        "Keys that do not belong in the outer file are not read, so a profile there is never voted.",
        "Write the settings into the inner file.",
        {**_file({**_OUTER, "devices": [{"cores": [_BURST]}]}), **_INNER},
        _file(_OUTER),
    ),
    "EXT-24": RuleText(
        "The vendor's parser finds a known name inside any key that leads to a value. If a device has several such "
        "keys, it takes the last: my_perf_profile after perf_profile is voted.",
        "Give the key another name, or delete it.",
        _core(my_perf_profile="power_saver"),
        _core(),
    ),
    "EXT-25": RuleText(
        "The vendor's parser keeps one value of each key for all cores: burst in the first core is not voted if the "
        "second has balanced.",
        "Write the same into each core, or leave it out of all but one.",
        _file({"devices": [{"cores": [_BURST, {"core_id": 1, "perf_profile": "balanced"}]}]}),
        _file({"devices": [{"cores": [_BURST, {"core_id": 1}]}]}),
    ),
    "EXT-30": RuleText(
        "If the chip lacks a vote, the library returns 13004, and the other votes of that call can be lost with it: "
        "with ddr_perf_mode burst runs on the relaxed clocks.",
        "Leave it out, or name a chip that has it.",
        _core(ddr_perf_mode=True),
        _core(),
    ),
    "EXT-31": RuleText(
        "If it is left out, high_performance runs, which a reader of the file can't see.",
        "State the profile.",
        _file({"devices": [{"cores": [{"core_id": 0}]}]}),
        _core(core_id=0),
    ),
    "EXT-32": RuleText(
        "The parser checks no ranges: 20000 us of polling are voted; an HMX timeout of 50 us fails when it is cast.",
        "Write a number in the range.",
        _core(rpc_polling_time=20_000),
        _core(rpc_polling_time=9999),
    ),
    "EXT-33": RuleText(
        "Without an item for inference_done the raised votes stay until the client ends: a battery drains in between.",
        "Add an item for each state.",
        _custom(_item(_START)),
        _custom(*_EVERY),
    ),
    "EXT-34": RuleText(
        "The order of the corners is not checked, and the effect of a wrong order is not known.",
        "Put them in order.",
        _custom(_item(_START, dcvsControl=_clocks(_MAX, _NOM)), _item(_DONE)),
        _custom(_item(_START, dcvsControl=_clocks(_NOM, _MAX)), _item(_DONE)),
    ),
    "EXT-35": RuleText(
        "With two chips in one file, it is not documented which of them a tool uses.",
        "Name one chip.",
        _device(soc_model=69, dsp_arch="v73"),
        _device(soc_model=69, dsp_arch="v79"),
    ),
    "EXT-36": RuleText(
        "Below V79 these profiles cast no raised vote, log one line, and the run goes on at SVS.",
        "Write the profile without llm_decode_.",
        _file({"devices": [{"dsp_arch": "v75", "cores": [{"perf_profile": "llm_decode_burst"}]}]}),
        _file({"devices": [{"dsp_arch": "v75", "cores": [_BURST]}]}),
    ),
    "EXT-37": RuleText(
        "The settings of remote calls do not exist on QNX.",
        "Leave them out.",
        _core(rpc_polling_time=9999),
        _core(),
        ("--platform", "qnx"),
    ),
    "EXT-38": RuleText(
        "Since 2.36 no binary is made with DLBC of weights and weight sharing. Reference weight sharing is silently "
        "off with DLBC, several cores or LoRA weight sharing.",
        "Leave out one of the two.",
        _file(
            {
                "graphs": [{**_GRAPH, "dlbc_weights": 1}],
                "devices": [{"cores": [_BURST]}],
                "context": {"weight_sharing_enabled": True},
            }
        ),
        _file({"graphs": [{**_GRAPH, "dlbc_weights": 1}], "devices": [{"cores": [_BURST]}]}),
    ),
    "EXT-39": RuleText(
        "A context that was prepared for one kind of memory and is run with the other allocates memory that is never "
        "used, or allocates in the first inference and copies in each.",
        "Prepare and run with the same memory.",
        _core(),
        _file({"devices": [{"cores": [_BURST]}], "memory": {"mem_type": "shared_buffer"}}),
        ("--prepared", "memhandle"),
    ),
    "EXT-40": RuleText(
        "A DLC holds one context for each SoC: the second one can't be added.",
        "Name each SoC once.",
        {_FILE: json.dumps(_TWO_SOCS) + "\n", "one.json": _of_soc(69), "two.json": _of_soc(69)},
        {"two.json": _of_soc(87)},
    ),
    "EXT-41": RuleText(
        "If both forms of a vote are written, only the expanded form is voted.",
        "Keep one form.",
        _custom(
            _item(_START, dcvsExpControl=dict.fromkeys(_clocks(), "DCVS_EXP_VCORNER_SVS")),
            _item(_DONE),
        ),
        _custom(*_EVERY),
    ),
    "EXT-42": RuleText(
        "For an unknown SoC the library creates no device, so no votes are cast (999, on x86).",
        "Write the chip's model number, such as 69 for SM8750.",
        _device(soc_model=999),
        _device(soc_model=69),
    ),
    "EXT-43": RuleText(
        "Without such a core the device can't be created (13001), and nothing is voted.",
        "Write 0, or a core that the chip has.",
        _core(core_id=7),
        _core(core_id=0),
    ),
    "EXT-44": RuleText(
        "Adaptive polling sets when the CPU begins to poll. If polling is off, the voter does not cast it.",
        "Delete it, or turn polling on.",
        _core(rpc_polling_time=0, adaptive_polling_time=1000),
        _core(rpc_polling_time=9999, adaptive_polling_time=1000),
    ),
    "EXT-50": RuleText(
        "Genie reads the inner file. It does not read the file that an outer one names: it finds no known key, and "
        "votes high_performance, as for an empty file.",
        "For Genie, name the inner file in engine.backend.extensions.",
        {**_file(_OUTER), **_INNER},
        _core(),
        ("--notes",),
    ),
    "EXT-51": RuleText(
        "A later SDK will not know the key, and may then refuse the file.",
        "Write what replaces it.",
        _device(soc_id=69),
        _device(soc_model=69),
        ("--notes",),
    ),
    "EXT-52": RuleText(
        "An SDK that does not know a key refuses the file if the key is in graphs or cores.",
        "Leave it out if older SDKs read the file.",
        _file({"graphs": [{**_GRAPH, "fp16_clamp_overflow": True}], "devices": [{"cores": [_BURST]}]}),
        _file({"graphs": [_GRAPH], "devices": [{"cores": [_BURST]}]}),
        ("--notes",),
    ),
    "EXT-53": RuleText(
        "Most chips have one core on one device: on these the device can't be created (13001), and nothing is voted.",
        "Write 0 if the chip has no other.",
        _core(core_id=1),
        _core(core_id=0),
        ("--notes",),
    ),
}
