"""The rules of a host's own settings: what its runtime ignores, refuses, or understands differently than expected."""

from __future__ import annotations

from htppower.rules.rule import Breach, Family, Rule

_MEASURED = "measured: onnxruntime 1.31.1 with onnxruntime-qnn 2.7.0"
_GENIE = "measured: libGenie.so of onnxruntime-qnn 2.7.0 (QAIRT 2.51)"


def _rule(rule_id: str, says: str, source: str, breach: Breach = Breach.ERROR) -> Rule:
    return Rule(rule_id, says, breach, source, family=Family.SETTINGS)


SETTINGS_RULES = (
    _rule(
        "SET-1", "Every key is one that the runtime reads at that place: it silently ignores any other key.", _MEASURED
    ),
    _rule("SET-2", "A mode is one that the runtime knows.", f"{_MEASURED}; the runtimes' public sources"),
    _rule(
        "SET-3",
        "A mode is a number if the runtime expects numbers.",
        "the runtimes' public sources; a name ends the process of TensorFlow Lite's delegate",
    ),
    _rule(
        "SET-4",
        "A mode is a name if the runtime expects names.",
        f"{_MEASURED} and ai-edge-litert 2.3.0; the numbers of qnn-net-run differ between versions",
    ),
    _rule(
        "SET-5",
        "A mode has the letter case that the runtime expects.",
        "AI Hub's API reference; measured: ai-edge-litert 2.3.0, libGenie.so of QAIRT 2.51",
    ),
    _rule(
        "SET-6", "A value of an option is a text if the runtime expects texts.", "measured: onnxruntime-genai 0.18.0"
    ),
    _rule("SET-7", "A control latency is a whole number of us, at most 4294967295.", _MEASURED),
    _rule("SET-8", "A dialog of Genie has no key for power: Genie refuses a dialog with one.", _GENIE),
    _rule(
        "SET-9",
        "A dialog of Genie names the inner extension file: with the outer one, Genie votes high_performance.",
        _GENIE,
    ),
    _rule(
        "SET-10", "A dialog of Genie names an extension file: without one, Genie votes nothing.", _GENIE, Breach.WARNING
    ),
    _rule(
        "SET-11",
        "A run that raises the clocks names a mode for afterwards: without qnn.htp_perf_mode_post_run its votes stay.",
        _MEASURED,
        Breach.WARNING,
    ),
    _rule(
        "SET-12",
        "The dynamic mode is not default: default after any other mode ends the process.",
        _MEASURED,
        Breach.WARNING,
    ),
    _rule(
        "SET-13",
        "A settings file in JSON is valid JSON: no comments, no trailing commas.",
        "measured: onnxruntime-genai 0.18.0, libGenie.so of QAIRT 2.51",
    ),
)
