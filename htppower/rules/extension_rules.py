"""The rules of the vendor's backend extension files: what its parser refuses, what it ignores, and what does harm.

An error is what makes the vendor's parser refuse the file as a whole: EXT-10 to EXT-18. A warning is of what it ignores
without a word (EXT-20 to EXT-23, EXT-25), reads as another key (EXT-24), or takes, with harm (EXT-30 and on).
``EXT-1`` is of profiles.
"""

from __future__ import annotations

from htppower.rules.rule import Breach, Family, Rule

_MEASURED = "measured on the vendor's parser and voter, QAIRT 2.47 to 2.51"
_EXTENSIONS = 'vendor, "HTP Backend Extensions"'


def _rule(number: int, says: str, breach: Breach, source: str = _MEASURED) -> Rule:
    return Rule(f"EXT-{number}", says, breach, source, family=Family.EXTENSION)


def _refused(number: int, says: str) -> Rule:
    return _rule(number, says, Breach.ERROR)


def _warned(number: int, says: str, source: str = _MEASURED) -> Rule:
    return _rule(number, says, Breach.WARNING, source)


EXTENSION_RULES = (
    _refused(10, "The text is JSON without extras, in UTF-8 without a byte order mark, and holds an object."),
    _refused(11, "Every value is of its key's type."),
    _refused(12, "Every word is one that its key takes, in its spelling."),
    _refused(13, "Every number is in the range that its key takes."),
    _refused(14, "In graphs and cores there is no value under a key that the parser does not know."),
    _refused(15, "The graph states of a custom item are at least one, and each once."),
    _refused(16, "No key is missing that its object needs."),
    _refused(17, "custom has items with clock votes, and stands beside perf_profile custom, which needs it."),
    _refused(18, "No object without values stands before one with values in the same list."),
    _warned(20, "Every key stands where it is read."),
    _warned(21, "No key is given twice: the first is taken."),
    _warned(22, "There is one device: of several the first is used."),
    _warned(
        23,
        "An outer file names the library of the HTP, and one inner file, or one for each SoC, that is there; it has no "
        "settings of its own for the HTP.",
    ),
    _warned(24, "No unknown key has the name of a known one in its own, or around it: it is read as that key."),
    _warned(25, "The cores of a device say the same: of different values the last counts for all of them."),
    _warned(
        30,
        "What is voted for is there: on this chip, and for ddr_perf_mode with every bus corner at MAX and polling on.",
        f'{_MEASURED}; vendor, "QNN HTP Performance Infrastructure API"',
    ),
    _warned(31, "The cores of a device say their perf_profile: where none does, it is high_performance."),
    _warned(
        32, "Numbers are in the range that the documentation names, even where the parser takes more.", _EXTENSIONS
    ),
    _warned(33, "The items of custom name every graph state: a state without an item keeps the votes before it."),
    _warned(34, "The corners of custom are in order: min <= target <= max, DISABLE aside."),
    _warned(35, "soc_model and dsp_arch are of the same chip.", "vendor, supported Snapdragon devices"),
    _warned(36, "llm_decode profiles are for Hexagon V79 and later."),
    _warned(37, "On QNX no RPC latency and polling is set.", 'vendor, "QNN HTP Performance Infrastructure API"'),
    _warned(
        38,
        "What excludes each other is not set together: DLBC of weights and weight sharing; reference weight sharing "
        "and DLBC, several cores, or LoRA weight sharing.",
        'vendor, "DLBC weights" and "Multi-SoC DLC with Reference Weight Sharing"',
    ),
    _warned(
        39, "The memory of inputs and outputs is the one with which the context was prepared.", 'vendor, "Qmem Graph"'
    ),
    _warned(
        40,
        "The files of several SoCs name each SoC once, and share weights by reference in all or in none.",
        'vendor, "Multi-SoC DLC with Reference Weight Sharing"',
    ),
    _warned(41, "An item of custom has one form of a vote: of two, the expanded one wins."),
    _warned(
        42,
        "soc_model, soc_id and dsp_arch are in the vendor's lists.",
        f"{_MEASURED}; vendor, supported Snapdragon devices",
    ),
    _warned(43, "device_id and core_id are of a device and core that some chip has: 0 to 3."),
    _warned(44, "Adaptive polling stands beside polling that is on: without it it is not voted."),
    _rule(
        50,
        "An outer file is for qnn-net-run and its like: Genie takes it for an inner one, and votes high_performance.",
        Breach.NOTE,
    ),
    _rule(51, "No key is deprecated.", Breach.NOTE, _EXTENSIONS),
    _rule(52, "Every key is known to QAIRT 2.47 and later.", Breach.NOTE),
    _rule(53, "device_id and core_id are 0, which every chip has.", Breach.NOTE),
)
