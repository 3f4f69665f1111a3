"""The texts of the rules on a host's own settings: why, an example of a breach, the mend."""

from __future__ import annotations

from htppower.tools.review.explain.texts.rule_text import RuleText

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

SETTINGS_TEXTS = {
    "SET-1": RuleText(
        "ONNX Runtime silently accepts unknown options. Its documentation has qnn.perf_mode, which "
        "votes nothing: the key is qnn.htp_perf_mode.",
        "Write the key that is read there; the finding names it.",
        {_RUN: f'{{"qnn.perf_mode": "burst", {_LOWERED}}}\n'},
        {_RUN: f'{{"qnn.htp_perf_mode": "burst", {_LOWERED}}}\n'},
    ),
    "SET-2": RuleText(
        "An unknown mode is not used: ONNX Runtime warns once in its log and votes nothing, MLPerf's app uses burst.",
        "Write one of the runtime's modes; the finding names the nearest.",
        {_PROVIDER: '{"htp_performance_mode": "turbo"}\n'},
        {_PROVIDER: '{"htp_performance_mode": "high_performance"}\n'},
    ),
    "SET-3": RuleText(
        "TensorFlow Lite's delegate needs a number, and a name ends the process; LiteRT refuses its TOML, and "
        "ExecuTorch ignores all but an int.",
        "Write the number; the finding has it.",
        {_DELEGATE: _gstreamer("burst")},
        {_DELEGATE: _gstreamer("(string)2")},
    ),
    "SET-4": RuleText(
        "A number is not a name: LiteRT refuses its flags, ONNX Runtime votes nothing. The numbers of qnn-net-run "
        "changed between versions, so a stored one means another mode.",
        "Write the name.",
        {_FLAGS: "run_model --graph=m.tflite --qualcomm_htp_performance_mode=2\n"},
        {_FLAGS: "run_model --graph=m.tflite --qualcomm_htp_performance_mode=burst\n"},
    ),
    "SET-5": RuleText(
        "AI Hub documents upper case for QNN contexts; LiteRT's flags, Genie's policy and MLPerf's settings are read "
        "only in lower case.",
        "Write it as the finding does.",
        {_JOB: 'submit --options "--qnn_options context_htp_performance_mode=balanced"\n'},
        {_JOB: 'submit --options "--qnn_options context_htp_performance_mode=BALANCED"\n'},
    ),
    "SET-6": RuleText(
        "onnxruntime-genai refuses all of its configuration for a number, true or false where a text belongs.",
        "Put the value into quotes.",
        {_GENAI: _genai('"rpc_control_latency": 100')},
        {_GENAI: _genai('"rpc_control_latency": "100"')},
    ),
    "SET-7": RuleText(
        "If a text begins with a number, that is used and the rest ignored. A negative or too large number becomes "
        "another: 1e3 is 1. As a provider option, any other text makes no session; as an option of a run it ends the "
        "process.",
        "Write a whole number of us.",
        {_RUN: '{"qnn.rpc_control_latency": "1e3"}\n'},
        {_RUN: '{"qnn.rpc_control_latency": "100"}\n'},
    ),
    "SET-8": RuleText(
        "Genie accepts only known keys there, and none is about power: the dialog can't be made. Its key "
        "poll is about a thread of the CPU.",
        "Write perf_profile into the extension file that engine.backend.extensions names.",
        {_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {"perf-profile": "burst"}'), "inner.json": _INNER},
        {_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {}'), "inner.json": _INNER},
    ),
    "SET-9": RuleText(
        "The outer file is for the vendor's command line tools. Genie accepts it silently, does not read the inner "
        "file, and finds no known key: it votes high_performance, as for an empty file.",
        "Name the file in its config_file_path.",
        {_DIALOG: _backend('"extensions": "outer.json"'), "outer.json": _OUTER},
        {_DIALOG: _backend('"extensions": "inner.json"'), "outer.json": "", "inner.json": _INNER},
    ),
    "SET-10": RuleText(
        "The votes of Genie come only from its extension file: without one the clocks stay as the system sets them. "
        "A named file that is not next to the dialog is not checked, since it may be only on the device.",
        "Name one in engine.backend.extensions; htppower settings burst --for genie writes both.",
        {_DIALOG: _backend('"QnnHtp": {}')},
        {_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {}'), "inner.json": _INNER},
    ),
    "SET-11": RuleText(
        "The provider votes before the run, and keeps the votes after it, until the model is released.",
        "State qnn.htp_perf_mode_post_run, too.",
        {_RUN: '{"qnn.htp_perf_mode": "burst"}\n'},
        {_RUN: f'{{"qnn.htp_perf_mode": "burst", {_LOWERED}}}\n'},
    ),
    "SET-12": RuleText(
        "The provider has no votes to cast for it, and the process ends.",
        "Name a mode that votes, such as low_power_saver.",
        {_RUN: '{"ep.dynamic.qnn_htp_performance_mode": "default"}\n'},
        {_RUN: '{"ep.dynamic.qnn_htp_performance_mode": "low_power_saver"}\n'},
    ),
    "SET-13": RuleText(
        "onnxruntime-genai and Genie refuse all but JSON, and the host has no model, or no votes. The former "
        "refuses a byte order mark, too.",
        "Mend it at the place of the finding.",
        {_GENAI: '{"model": {"decoder": {}},}\n'},
        {_GENAI: '{"model": {"decoder": {}}}\n'},
    ),
}
