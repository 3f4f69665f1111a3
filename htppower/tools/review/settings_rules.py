"""The rules of a host's own settings: what its runtime ignores, refuses, or understands differently than expected."""

from __future__ import annotations

from typing import Any

from htppower.rules.rule import Breach, Family, Rule

_MEASURED = "measured: onnxruntime 1.31.1 with onnxruntime-qnn 2.7.0"
_GENIE = "measured: libGenie.so of onnxruntime-qnn 2.7.0 (QAIRT 2.51)"

_RUN = "run_options.json"
_PROVIDER = "provider_options.json"
_DELEGATE = "pipeline.sh"
_FLAGS = "run.sh"
_JOB = "job.sh"
_GENAI = "genai_config.json"
_DIALOG = "dialog.json"


def _backend(text: str) -> str:
    return f'{{"dialog": {{"engine": {{"backend": {{"type": "QnnHtp", {text}}}}}}}}}\n'


def _genai(text: str) -> str:
    return f'{{"model": {{"decoder": {{"session_options": {{"provider_options": [{{"qnn": {{{text}}}}}]}}}}}}}}\n'


def _gstreamer(mode: str) -> str:
    return f'external-delegate-options="QNNExternalDelegate,backend_type=htp,htp_performance_mode={mode};"\n'


_OUTER = '{"backend_extensions": {"shared_library_path": "a.so", "config_file_path": "inner.json"}}\n'
_INNER = '{"devices": [{"cores": [{"perf_profile": "burst"}]}]}\n'
_LOWERED = '"qnn.htp_perf_mode_post_run": "low_power_saver"'


def _rule(rule_id: str, says: str, source: str, breach: Breach = Breach.ERROR, **more: Any) -> Rule:
    return Rule(rule_id, says, breach, source, family=Family.SETTINGS, **more)


SETTINGS_RULES = (
    _rule(
        "SET-1",
        "Every key is one that the runtime reads at that place: it silently ignores any other key.",
        _MEASURED,
        why=(
            "ONNX Runtime silently accepts unknown options. Its documentation has qnn.perf_mode, which votes nothing: "
            "the key is qnn.htp_perf_mode."
        ),
        mend="Write the key that is read there; the finding names it.",
        wrong={_RUN: f'{{"qnn.perf_mode": "burst", {_LOWERED}}}\n'},
        right={_RUN: f'{{"qnn.htp_perf_mode": "burst", {_LOWERED}}}\n'},
    ),
    _rule(
        "SET-2",
        "A mode is one that the runtime knows.",
        f"{_MEASURED}; the runtimes' public sources",
        why=(
            "An unknown mode is not used: ONNX Runtime warns once in its log and votes nothing, MLPerf's app uses "
            "burst."
        ),
        mend="Write one of the runtime's modes; the finding names the nearest.",
        wrong={_PROVIDER: '{"htp_performance_mode": "turbo"}\n'},
        right={_PROVIDER: '{"htp_performance_mode": "high_performance"}\n'},
    ),
    _rule(
        "SET-3",
        "A mode is a number if the runtime expects numbers.",
        "the runtimes' public sources; a name ends the process of TensorFlow Lite's delegate",
        why=(
            "TensorFlow Lite's delegate needs a number, and a name ends the process; LiteRT refuses its TOML, and "
            "ExecuTorch ignores all but an int."
        ),
        mend="Write the number; the finding has it.",
        wrong={_DELEGATE: _gstreamer("burst")},
        right={_DELEGATE: _gstreamer("(string)2")},
    ),
    _rule(
        "SET-4",
        "A mode is a name if the runtime expects names.",
        f"{_MEASURED} and ai-edge-litert 2.3.0; the numbers of qnn-net-run differ between versions",
        why=(
            "A number is not a name: LiteRT refuses its flags, ONNX Runtime votes nothing. The numbers of qnn-net-run "
            "changed between versions, so a stored one means another mode."
        ),
        mend="Write the name.",
        wrong={_FLAGS: "run_model --graph=m.tflite --qualcomm_htp_performance_mode=2\n"},
        right={_FLAGS: "run_model --graph=m.tflite --qualcomm_htp_performance_mode=burst\n"},
    ),
    _rule(
        "SET-5",
        "A mode has the letter case that the runtime expects.",
        "AI Hub's API reference; measured: ai-edge-litert 2.3.0, libGenie.so of QAIRT 2.51",
        why=(
            "AI Hub documents upper case for QNN contexts; LiteRT's flags, Genie's policy and MLPerf's settings are "
            "read only in lower case."
        ),
        mend="Use the spelling in the finding.",
        wrong={_JOB: 'submit --options "--qnn_options context_htp_performance_mode=balanced"\n'},
        right={_JOB: 'submit --options "--qnn_options context_htp_performance_mode=BALANCED"\n'},
    ),
    _rule(
        "SET-6",
        "A value of an option is a text if the runtime expects texts.",
        "measured: onnxruntime-genai 0.18.0",
        why="onnxruntime-genai refuses all of its configuration for a number, true or false where a text belongs.",
        mend="Put the value into quotes.",
        wrong={_GENAI: _genai('"rpc_control_latency": 100')},
        right={_GENAI: _genai('"rpc_control_latency": "100"')},
    ),
    _rule(
        "SET-7",
        "A control latency is a whole number of us, at most 4294967295.",
        _MEASURED,
        why=(
            "If a text begins with a number, that is used and the rest ignored. A negative or too large number becomes"
            " another: 1e3 is 1. As a provider option, any other text makes no session; as an option of a run it ends "
            "the process."
        ),
        mend="Write a whole number of us.",
        wrong={_RUN: '{"qnn.rpc_control_latency": "1e3"}\n'},
        right={_RUN: '{"qnn.rpc_control_latency": "100"}\n'},
    ),
    _rule(
        "SET-8",
        "A dialog of Genie has no key for power: Genie refuses a dialog with one.",
        _GENIE,
        why=(
            "Genie accepts only known keys there, and none is about power: the dialog can't be made. Its key poll is "
            "about a thread of the CPU."
        ),
        mend="Write perf_profile into the extension file that engine.backend.extensions names.",
        wrong={
            _DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {"perf-profile": "burst"}'),
            "inner.json": _INNER,
        },
        right={_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {}'), "inner.json": _INNER},
    ),
    _rule(
        "SET-9",
        "A dialog of Genie names the inner extension file: with the outer one, Genie votes high_performance.",
        _GENIE,
        why=(
            "The outer file is for the vendor's command line tools. Genie accepts it silently, does not read the inner"
            " file, and finds no known key: it votes high_performance, as for an empty file."
        ),
        mend="Name the file in its config_file_path.",
        wrong={_DIALOG: _backend('"extensions": "outer.json"'), "outer.json": _OUTER},
        right={_DIALOG: _backend('"extensions": "inner.json"'), "outer.json": "", "inner.json": _INNER},
    ),
    _rule(
        "SET-10",
        "A dialog of Genie names an extension file: without one, Genie votes nothing.",
        _GENIE,
        Breach.WARNING,
        why=(
            "The votes of Genie come only from its extension file: without one the clocks stay as the system sets "
            "them. A named file that is not next to the dialog is not checked, since it may be only on the device."
        ),
        mend="Name one in engine.backend.extensions; htppower settings burst --for genie writes both.",
        wrong={_DIALOG: _backend('"QnnHtp": {}')},
        right={_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {}'), "inner.json": _INNER},
    ),
    _rule(
        "SET-11",
        "A run that raises the clocks names a mode for afterwards: without qnn.htp_perf_mode_post_run its votes stay.",
        _MEASURED,
        Breach.WARNING,
        why="The provider votes before the run, and keeps the votes after it, until the model is released.",
        mend="State qnn.htp_perf_mode_post_run, too.",
        wrong={_RUN: '{"qnn.htp_perf_mode": "burst"}\n'},
        right={_RUN: f'{{"qnn.htp_perf_mode": "burst", {_LOWERED}}}\n'},
    ),
    _rule(
        "SET-12",
        "The dynamic mode is not default: default after any other mode ends the process.",
        _MEASURED,
        Breach.WARNING,
        why="The provider has no votes for it, and the process ends.",
        mend="Name a mode that votes, such as low_power_saver.",
        wrong={_RUN: '{"ep.dynamic.qnn_htp_performance_mode": "default"}\n'},
        right={_RUN: '{"ep.dynamic.qnn_htp_performance_mode": "low_power_saver"}\n'},
    ),
    _rule(
        "SET-13",
        "A settings file in JSON is valid JSON: no comments, no trailing commas.",
        "measured: onnxruntime-genai 0.18.0, libGenie.so of QAIRT 2.51",
        why=(
            "onnxruntime-genai and Genie refuse all but JSON, and the host has no model, or no votes. The former "
            "refuses a byte order mark, too."
        ),
        mend="Mend it at the place of the finding.",
        wrong={_GENAI: '{"model": {"decoder": {}},}\n'},
        right={_GENAI: '{"model": {"decoder": {}}}\n'},
    ),
    _rule(
        "SET-14",
        "Threads of the CPU sleep while they wait for the NPU: those of ONNX Runtime don't spin, Genie doesn't poll.",
        "one user's measurement of each: microsoft/foundry-local issue 1081, qualcomm/ai-hub-apps issue 30",
        Breach.WARNING,
        why=(
            "Threads that spin cost power, whatever the NPU votes. On Snapdragon X, those of ONNX Runtime took 34 % of "
            "the CPU, and 3 % without, at the same speed (https://github.com/microsoft/foundry-local/issues/1081). An "
            "idle Genie took 20 %, and its maintainers name poll (https://github.com/qualcomm/ai-hub-apps/issues/30). "
            "Without the entry, ONNX Runtime's threads spin in most builds. If they sleep, nodes on the CPU may be "
            "slower."
        ),
        mend='Write session.intra_op.allow_spinning=0 among the session options; in a dialog of Genie "poll": false.',
        wrong={_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {"poll": true}'), "inner.json": _INNER},
        right={_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {"poll": false}'), "inner.json": _INNER},
    ),
)
