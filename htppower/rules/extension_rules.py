"""The rules of the vendor's backend extension files: what the vendor's parser refuses or ignores, and what does harm.

An error makes the vendor's parser refuse the whole file: EXT-10 to EXT-18. A warning is about a value that the parser
silently ignores (EXT-20 to EXT-23, EXT-25), reads as another key (EXT-24), or accepts although it does harm (EXT-30 and
later). ``EXT-1`` is a rule of profiles.
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
    _refused(12, "Every word is one that its key accepts, in the same spelling."),
    _refused(13, "Every number is in the range that its key accepts."),
    _refused(14, "Objects in graphs and cores have no key that the parser does not know."),
    _refused(15, "A custom item has at least one graph state, and each only once."),
    _refused(16, "Every object has all keys that it needs."),
    _refused(17, "custom has items with clock votes, and perf_profile is custom; each of the two needs the other."),
    _refused(18, "In a list, no object without values comes before an object with values."),
    _warned(20, "Every key is at a place where the parser reads it."),
    _warned(21, "No key is given twice: the parser uses the first."),
    _warned(22, "There is only one device: of several, the parser uses the first."),
    _warned(
        23,
        "An outer file names the library of the HTP, and one existing inner file, or one for each SoC; it has no HTP "
        "settings itself.",
    ),
    _warned(24, "No unknown key has the name of a known key in or around its object: it is read as that key."),
    _warned(25, "All cores of a device have the same values: if they differ, the last value applies to all cores."),
    _warned(
        30,
        "The chip has each option that is voted; ddr_perf_mode also needs every bus corner at MAX, and polling on.",
        f'{_MEASURED}; vendor, "QNN HTP Performance Infrastructure API"',
    ),
    _warned(31, "The cores of a device name their perf_profile: without one, it is high_performance."),
    _warned(32, "Numbers are in the documented range, even if the parser accepts more.", _EXTENSIONS),
    _warned(33, "The items of custom name every graph state: without an item, a state keeps the votes before it."),
    _warned(34, "The corners of custom are in order: min <= target <= max, except for DISABLE."),
    _warned(35, "soc_model and dsp_arch belong to the same chip.", "vendor, supported Snapdragon devices"),
    _warned(36, "llm_decode profiles are for Hexagon V79 and later."),
    _warned(37, "On QNX no RPC latency and polling is set.", 'vendor, "QNN HTP Performance Infrastructure API"'),
    _warned(
        38,
        "Options that exclude each other are not used together: DLBC of weights and weight sharing; reference weight "
        "sharing and any of DLBC, several cores, or LoRA weight sharing.",
        'vendor, "DLBC weights" and "Multi-SoC DLC with Reference Weight Sharing"',
    ),
    _warned(
        39, "Inputs and outputs use the kind of memory for which the context was prepared.", 'vendor, "Qmem Graph"'
    ),
    _warned(
        40,
        "Each of the files for several SoCs names a different SoC; all or none of them share weights by reference.",
        'vendor, "Multi-SoC DLC with Reference Weight Sharing"',
    ),
    _warned(41, "An item of custom has each vote in one form: of two forms, the expanded one is used."),
    _warned(
        42,
        "soc_model, soc_id and dsp_arch are in the vendor's lists.",
        f"{_MEASURED}; vendor, supported Snapdragon devices",
    ),
    _warned(43, "device_id and core_id exist on some chip: 0 to 3."),
    _warned(44, "Adaptive polling is used together with polling: without it, the adaptive polling time is not voted."),
    _rule(
        50,
        "An outer file is for tools like qnn-net-run: Genie reads it as an inner file, and votes high_performance.",
        Breach.NOTE,
    ),
    _rule(51, "No key is deprecated.", Breach.NOTE, _EXTENSIONS),
    _rule(52, "Every key is known to QAIRT 2.47 and later.", Breach.NOTE),
    _rule(53, "device_id and core_id are 0: every chip has these.", Breach.NOTE),
)
