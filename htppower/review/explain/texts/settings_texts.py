"""Why there are the rules of a host's own settings, what breaks each, and the mend."""

from __future__ import annotations

from htppower.review.explain.texts.rule_text import RuleText

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
        "ONNX Runtime takes options that nobody reads, and says nothing. Its documentation has qnn.perf_mode, which "
        "votes nothing: the key is qnn.htp_perf_mode.",
        "Write the key that is read there; the finding names it.",
        {_RUN: f'{{"qnn.perf_mode": "burst", {_LOWERED}}}\n'},
        {_RUN: f'{{"qnn.htp_perf_mode": "burst", {_LOWERED}}}\n'},
    ),
    "SET-2": RuleText(
        "A mode that is not known is no mode: ONNX Runtime warns once in its log and votes nothing, MLPerf's app takes "
        "burst.",
        "Write one of the runtime's modes; the finding names the nearest.",
        {_PROVIDER: '{"htp_performance_mode": "turbo"}\n'},
        {_PROVIDER: '{"htp_performance_mode": "high_performance"}\n'},
    ),
    "SET-3": RuleText(
        "TensorFlow Lite's delegate reads a number and ends the process at a name; LiteRT refuses its TOML, and "
        "ExecuTorch ignores what is no int.",
        "Write the number; the finding has it.",
        {_DELEGATE: _gstreamer("burst")},
        {_DELEGATE: _gstreamer("(string)2")},
    ),
    "SET-4": RuleText(
        "A number is no name: LiteRT refuses its flags, ONNX Runtime votes nothing. The numbers of qnn-net-run changed "
        "between versions, so a stored one means another mode.",
        "Write the name.",
        {_FLAGS: "run_model --graph=m.tflite --qualcomm_htp_performance_mode=2\n"},
        {_FLAGS: "run_model --graph=m.tflite --qualcomm_htp_performance_mode=burst\n"},
    ),
    "SET-5": RuleText(
        "AI Hub documents upper case for QNN contexts; LiteRT's flags, Genie's policy and MLPerf's settings are read "
        "in lower case alone.",
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
        "Of a text that begins with a number that is taken, whatever stands behind it, and a negative or too large one "
        "becomes another: 1e3 is 1. As a provider option anything else makes no session; as an option of a run it ends "
        "the process.",
        "Write a whole number of us.",
        {_RUN: '{"qnn.rpc_control_latency": "1e3"}\n'},
        {_RUN: '{"qnn.rpc_control_latency": "100"}\n'},
    ),
    "SET-8": RuleText(
        "Genie takes only the keys that it knows there, and none is about power: the dialog can't be made. Its key "
        "poll is about a thread of the CPU.",
        "Write perf_profile into the extension file that engine.backend.extensions names.",
        {_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {"perf-profile": "burst"}'), "inner.json": _INNER},
        {_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {}'), "inner.json": _INNER},
    ),
    "SET-9": RuleText(
        "The outer file is that of the vendor's command line tools. Genie takes it without a word, does not follow it, "
        "and finds no key that it knows in it: it votes high_performance, as for an empty file.",
        "Name the file in its config_file_path.",
        {_DIALOG: _backend('"extensions": "outer.json"'), "outer.json": _OUTER},
        {_DIALOG: _backend('"extensions": "inner.json"'), "outer.json": "", "inner.json": _INNER},
    ),
    "SET-10": RuleText(
        "The votes of Genie come from its extension file alone: without one the clocks stay where the system has them. "
        "One that is named, and is not beside the dialog, is not checked; it may be on the device alone.",
        "Name one in engine.backend.extensions; htppower settings burst --for genie writes both.",
        {_DIALOG: _backend('"QnnHtp": {}')},
        {_DIALOG: _backend('"extensions": "inner.json", "QnnHtp": {}'), "inner.json": _INNER},
    ),
    "SET-11": RuleText(
        "The provider votes before the run, and leaves that so after it, until the model is released.",
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
        "onnxruntime-genai and Genie refuse what is not JSON, and the host has no model, or no votes. The former "
        "refuses a byte order mark, too.",
        "Mend it at the place of the finding.",
        {_GENAI: '{"model": {"decoder": {}},}\n'},
        {_GENAI: '{"model": {"decoder": {}}}\n'},
    ),
}
