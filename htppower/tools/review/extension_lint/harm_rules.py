"""The rules of extension files about what the vendor's parser accepts although it does harm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.rules.rule import Breach
from htppower.tools.review.extension_lint.parser_rules import (
    BURST,
    DEVICES,
    DONE,
    EVERY,
    EXTENSIONS,
    INNER,
    MAX,
    MEASURED,
    NOM,
    OUTER,
    START,
    clocks,
    core,
    cores,
    custom,
    device,
    extension_rule,
    file,
    graph,
    item,
    warned,
)

if TYPE_CHECKING:
    from htppower.rules.rule import Rule

_EXP_SVS = "DCVS_EXP_VCORNER_SVS"
_TWO_SOCS = '"backend_extensions": {"per_soc_config_file_path": ["one.json", "two.json"]}'


def _of_soc(model: int) -> str:
    device = f'{{"soc_model": {model}, "cores": [{BURST}]}}'
    return f'{{"devices": [{device}], "context": {{"reference_weight_sharing_enabled": true}}}}\n'


def _noted(number: int, says: str, source: str = MEASURED, **more: Any) -> Rule:
    return extension_rule(number, says, Breach.NOTE, source, lint=("--notes",), **more)


HARM_RULES = (
    warned(
        30,
        "The chip has each option that is voted; ddr_perf_mode also needs every bus corner at MAX, and polling on.",
        f'{MEASURED}; vendor, "QNN HTP Performance Infrastructure API"',
        why=(
            "If the chip lacks a vote, the library returns 13004, and the other votes of that call can be lost with "
            "it: with ddr_perf_mode burst runs on the relaxed clocks."
        ),
        mend="Leave it out, or name a chip that has it.",
        wrong=core('"ddr_perf_mode": true'),
        right=core(),
    ),
    warned(
        31,
        "The cores of a device name their perf_profile: without one, it is high_performance.",
        why="If it is left out, high_performance runs, which a reader of the file can't see.",
        mend="State the profile.",
        wrong=cores('{"core_id": 0}'),
        right=core('"core_id": 0'),
    ),
    warned(
        32,
        "Numbers are in the documented range, even if the parser accepts more.",
        EXTENSIONS,
        why=(
            "The parser checks no ranges: 20000 us of polling are voted; an HMX timeout of 50 us fails when it is sent."
        ),
        mend="Write a number in the range.",
        wrong=core('"rpc_polling_time": 20000'),
        right=core('"rpc_polling_time": 9999'),
    ),
    warned(
        33,
        "The items of custom name every graph state: without an item, a state keeps the votes before it.",
        why=(
            "Without an item for inference_done the raised votes stay until the client ends: a battery drains in "
            "between."
        ),
        mend="Add an item for each state.",
        wrong=custom(item(START)),
        right=custom(*EVERY),
    ),
    warned(
        34,
        "The corners of custom are in order: min <= target <= max, except for DISABLE.",
        why="The order of the corners is not checked, and the effect of a wrong order is not known.",
        mend="Put them in order.",
        wrong=custom(item(START, voted=clocks(MAX, NOM)), DONE),
        right=custom(item(START, voted=clocks(NOM, MAX)), DONE),
    ),
    warned(
        35,
        "soc_model and dsp_arch belong to the same chip.",
        "vendor, supported Snapdragon devices",
        why="With two chips in one file, it is not documented which of them a tool uses.",
        mend="Name one chip.",
        wrong=device('"soc_model": 69, "dsp_arch": "v73"'),
        right=device('"soc_model": 69, "dsp_arch": "v79"'),
    ),
    warned(
        36,
        "llm_decode profiles are for Hexagon V79 and later.",
        why="Below V79 these profiles send no raised vote and log one line, and the run continues at SVS.",
        mend="Write the profile without llm_decode_.",
        wrong=cores('{"perf_profile": "llm_decode_burst"}', '"dsp_arch": "v75"'),
        right=device('"dsp_arch": "v75"'),
    ),
    warned(
        37,
        "On QNX no RPC latency and polling is set.",
        'vendor, "QNN HTP Performance Infrastructure API"',
        why="The settings of remote calls do not exist on QNX.",
        mend="Leave them out.",
        wrong=core('"rpc_polling_time": 9999'),
        right=core(),
        lint=("--platform", "qnx"),
    ),
    warned(
        38,
        "Options that exclude each other are not used together: DLBC of weights and weight sharing; reference weight "
        "sharing and any of DLBC, several cores, or LoRA weight sharing.",
        'vendor, "DLBC weights" and "Multi-SoC DLC with Reference Weight Sharing"',
        why=(
            "Since 2.36 no binary is made with DLBC of weights and weight sharing. Reference weight sharing is "
            "silently off with DLBC, several cores or LoRA weight sharing."
        ),
        mend="Leave out one of the two.",
        wrong=graph('"dlbc_weights": 1', ', "context": {"weight_sharing_enabled": true}'),
        right=graph('"dlbc_weights": 1'),
    ),
    warned(
        39,
        "Inputs and outputs use the kind of memory for which the context was prepared.",
        'vendor, "Qmem Graph"',
        why=(
            "A context that was prepared for one kind of memory and is run with the other allocates memory that is "
            "never used, or allocates in the first inference and copies in each."
        ),
        mend="Prepare and run with the same memory.",
        wrong=core(),
        right=file(f'{DEVICES}, "memory": {{"mem_type": "shared_buffer"}}'),
        lint=("--prepared", "memhandle"),
    ),
    warned(
        40,
        "Each of the files for several SoCs names a different SoC; all or none of them share weights by reference.",
        'vendor, "Multi-SoC DLC with Reference Weight Sharing"',
        why="A DLC holds one context for each SoC: the second one can't be added.",
        mend="Name each SoC once.",
        wrong={**file(_TWO_SOCS), "one.json": _of_soc(69), "two.json": _of_soc(69)},
        right={"two.json": _of_soc(87)},
    ),
    warned(
        41,
        "An item of custom has each vote in one form: of two forms, the expanded one is used.",
        why="If both forms of a vote are written, only the expanded form is voted.",
        mend="Keep one form.",
        wrong=custom(item(START, f', "dcvsExpControl": {{{clocks(_EXP_SVS, _EXP_SVS)}}}'), DONE),
        right=custom(*EVERY),
    ),
    warned(
        42,
        "soc_model, soc_id and dsp_arch are in the vendor's lists.",
        f"{MEASURED}; vendor, supported Snapdragon devices",
        why="For an unknown SoC the library creates no device, so no votes are sent (999, on x86).",
        mend="Write the chip's model number, such as 69 for SM8750.",
        wrong=device('"soc_model": 999'),
        right=device('"soc_model": 69'),
    ),
    warned(
        43,
        "device_id and core_id exist on some chip: 0 to 3.",
        why="Without such a core the device can't be created (13001), and nothing is voted.",
        mend="Write 0, or a core that the chip has.",
        wrong=core('"core_id": 7'),
        right=core('"core_id": 0'),
    ),
    warned(
        44,
        "Adaptive polling is used together with polling: without it, the adaptive polling time is not voted.",
        why="Adaptive polling sets when the CPU begins to poll. If polling is off, the voter does not send it.",
        mend="Delete it, or turn polling on.",
        wrong=core('"rpc_polling_time": 0, "adaptive_polling_time": 1000'),
        right=core('"rpc_polling_time": 9999, "adaptive_polling_time": 1000'),
    ),
    _noted(
        50,
        "An outer file is for tools like qnn-net-run: Genie reads it as an inner file, and votes high_performance.",
        why=(
            "Genie reads the inner file. It does not read the file that an outer one names: it finds no known key, and"
            " votes high_performance, as for an empty file."
        ),
        mend="For Genie, name the inner file in engine.backend.extensions.",
        wrong={**file(OUTER), **INNER},
        right=core(),
    ),
    _noted(
        51,
        "No key is deprecated.",
        EXTENSIONS,
        why="A later SDK will not know the key, and may then refuse the file.",
        mend="Write what replaces it.",
        wrong=device('"soc_id": 69'),
        right=device('"soc_model": 69'),
    ),
    _noted(
        52,
        "Every key is known to QAIRT 2.47 and later.",
        why="An SDK that does not know a key refuses the file if the key is in graphs or cores.",
        mend="Leave it out if older SDKs read the file.",
        wrong=graph('"fp16_clamp_overflow": true'),
        right=file(f'"graphs": [{{"graph_names": ["model"]}}], {DEVICES}'),
    ),
    _noted(
        53,
        "device_id and core_id are 0: every chip has these.",
        why=(
            "Most chips have one core on one device: on these the device can't be created (13001), and nothing is "
            "voted."
        ),
        mend="Write 0 if the chip has no other.",
        wrong=core('"core_id": 1'),
        right=core('"core_id": 0'),
    ),
)
