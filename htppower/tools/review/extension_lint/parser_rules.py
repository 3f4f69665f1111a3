"""The rules of extension files that the vendor's parser makes: what it refuses, ignores, or reads as another key.

An error makes the parser refuse the whole file: EXT-10 to EXT-18. A warning is about a value that the parser silently
ignores (EXT-20 to EXT-23, EXT-25), or reads as another key (EXT-24). ``EXT-1`` is a rule of profiles.

The functions make the examples of these and of the other rules. Examples are texts instead of data, so that a command
that needs only the ids does not import ``json``.
"""

from __future__ import annotations

from typing import Any

from htppower.rules.rule import Breach, Family, Rule

MEASURED = "measured on the vendor's parser and voter, QAIRT 2.47 to 2.51"
EXTENSIONS = 'vendor, "HTP Backend Extensions"'

FILE = "htp.json"
BURST = '{"perf_profile": "burst"}'
DEVICES = f'"devices": [{{"cores": [{BURST}]}}]'
OUTER = '"backend_extensions": {"config_file_path": "inner.json"}'
INNER = {"inner.json": f"{{{DEVICES}}}\n"}
SVS, NOM, MAX = (f"DCVS_VOLTAGE_VCORNER_{corner}" for corner in ("SVS", "NOM", "MAX_VOLTAGE_CORNER"))
START = '"init_start", "inference_start", "deinit_start"'
_DONE = '"init_done", "inference_done", "deinit_done"'


def extension_rule(number: int, says: str, breach: Breach, source: str = MEASURED, **more: Any) -> Rule:
    """Return a rule of extension files."""
    return Rule(f"EXT-{number}", says, breach, source, family=Family.EXTENSION, **more)


def file(members: str) -> dict[str, str]:
    """Return an extension file with these members at its top."""
    return {FILE: f"{{{members}}}\n"}


def cores(objects: str, members: str = "") -> dict[str, str]:
    """Return a file with one device that has these cores and members."""
    return file(f'"devices": [{{{members}{", " if members else ""}"cores": [{objects}]}}]')


def core(members: str = "") -> dict[str, str]:
    """Return a file with one core that has perf_profile burst and these members."""
    return cores(f"{BURST[:-1]}, {members}}}" if members else BURST)


def device(members: str) -> dict[str, str]:
    """Return a file with one device that has these members, and a core that has perf_profile burst."""
    return cores(BURST, members)


def graph(members: str, others: str = "") -> dict[str, str]:
    """Return a file with one graph that has these members."""
    return file(f'"graphs": [{{"graph_names": ["model"], {members}}}], {DEVICES}{others}')


def clocks(lowest: str = SVS, highest: str = SVS) -> str:
    """Return the corners of both clocks, with the target at the lowest."""
    sides = {"Min": lowest, "Target": lowest, "Max": highest}
    return ", ".join(
        f'"{clock}VoltageCorner{limit}": "{corner}"' for clock in ("bus", "core") for limit, corner in sides.items()
    )


def item(states: str, members: str = "", *, voted: str = "") -> str:
    """Return an item of custom with its clock votes and further members."""
    return f'{{"graphState": [{states}], "dcvsControl": {{{voted or clocks()}}}{members}}}'


def custom(*items: str, profile: str = "custom") -> dict[str, str]:
    """Return a file with these items of custom."""
    return cores(f'{{"perf_profile": "{profile}", "custom": [{", ".join(items)}]}}')


DONE = item(_DONE)
EVERY = (item(START), DONE)


def _refused(number: int, says: str, why: str, **more: Any) -> Rule:
    why = f"{why} The vendor's tools refuse the whole file: Genie prints one warning and runs without any vote."
    return extension_rule(number, says, Breach.ERROR, why=why, **more)


def warned(number: int, says: str, source: str = MEASURED, **more: Any) -> Rule:
    """Return a rule about what is ignored, or does harm."""
    return extension_rule(number, says, Breach.WARNING, source, **more)


PARSER_RULES = (
    _refused(
        10,
        "The text is JSON without extras, in UTF-8 without a byte order mark, and holds an object.",
        why="The vendor's parser accepts no comments, no commas before a bracket, no NaN and no byte order mark.",
        mend="Write plain JSON.",
        wrong=cores(f"{BURST},"),
        right=core(),
    ),
    _refused(
        11,
        "Every value is of its key's type.",
        why="A number in quotes is a text, and 1 is not true.",
        mend="Write a value of the key's type.",
        wrong=core('"rpc_polling_time": "9999"'),
        right=core('"rpc_polling_time": 9999'),
    ),
    _refused(
        12,
        "Every word is one that its key accepts, in the same spelling.",
        why="Words are compared letter by letter.",
        mend="Write the word as the vendor writes it.",
        wrong=cores('{"perf_profile": "BURST"}'),
        right=core(),
    ),
    _refused(
        13,
        "Every number is in the range that its key accepts.",
        why="A number that does not fit is not shortened.",
        mend="Write a number in the range.",
        wrong=core('"rpc_control_latency": -1'),
        right=core('"rpc_control_latency": 100'),
    ),
    _refused(
        14,
        "Objects in graphs and cores have no key that the parser does not know.",
        why="In graphs and cores even a note to the reader is an unknown key.",
        mend="Delete it, or put it at the top, where unknown keys are ignored.",
        wrong=core('"_comment": "as fast as it goes"'),
        right=core(),
    ),
    _refused(
        15,
        "A custom item has at least one graph state, and each only once.",
        why="An item for no state, or for one state twice, means nothing.",
        mend="Name each state once.",
        wrong=custom(item(f'{START}, "init_start"'), DONE),
        right=custom(*EVERY),
    ),
    _refused(
        16,
        "Every object has all keys that it needs.",
        why="Clock votes have six corners, and none has a default.",
        mend="Add what is missing.",
        wrong=custom(item(START, voted=f'"busVoltageCornerMin": "{SVS}"'), DONE),
        right=custom(*EVERY),
    ),
    _refused(
        17,
        "custom has items with clock votes, and perf_profile is custom; each of the two needs the other.",
        why="The profile custom consists of its items, and no other profile has items.",
        mend="Write perf_profile custom next to custom.",
        wrong=custom(*EVERY, profile="burst"),
        right=custom(*EVERY),
    ),
    _refused(
        18,
        "In a list, no object without values comes before an object with values.",
        why="The parser miscounts objects without values.",
        mend="Delete the empty object, or put it last.",
        wrong=file(f'"graphs": [{{}}, {{"graph_names": ["model"]}}], {DEVICES}'),
        right=file(f'"graphs": [{{"graph_names": ["model"]}}], {DEVICES}'),
    ),
    warned(
        20,
        "Every key is at a place where the parser reads it.",
        why="A key in the wrong place is silently ignored: perf_profile in a device does not change the profile.",
        mend="Write the key where it is read.",
        wrong=device('"perf_profile": "power_saver"'),
        right=core(),
    ),
    warned(
        21,
        "No key is given twice: the parser uses the first.",
        why="The vendor's parser uses the first value, most other readers of JSON use the last.",
        mend="Keep one.",
        wrong=device('"device_id": 0, "device_id": 0'),
        right=device('"device_id": 0'),
    ),
    warned(
        22,
        "There is only one device: of several, the parser uses the first.",
        why="The settings of the second device are never used, and no message reports it.",
        mend="Write a file for each device.",
        wrong=file(f'"devices": [{{"device_id": 0, "cores": [{BURST}]}}, {{"device_id": 1, "cores": [{BURST}]}}]'),
        right=device('"device_id": 0'),
    ),
    warned(
        23,
        "An outer file names the library of the HTP, and one existing inner file, or one for each SoC; it has no HTP "
        "settings itself.",
        why="Keys that do not belong in the outer file are not read, so a profile there is never voted.",
        mend="Write the settings into the inner file.",
        wrong={**file(f"{OUTER}, {DEVICES}"), **INNER},
        right=file(OUTER),
    ),
    warned(
        24,
        "No unknown key has the name of a known key in or around its object: it is read as that key.",
        why=(
            "The vendor's parser finds a known name inside any key that leads to a value. If a device has several such"
            " keys, it takes the last: my_perf_profile after perf_profile is voted."
        ),
        mend="Give the key another name, or delete it.",
        wrong=core('"my_perf_profile": "power_saver"'),
        right=core(),
    ),
    warned(
        25,
        "All cores of a device have the same values: if they differ, the last value applies to all cores.",
        why=(
            "The vendor's parser keeps one value of each key for all cores: burst in the first core is not voted if "
            "the second has balanced."
        ),
        mend="Write the same into each core, or leave it out of all but one.",
        wrong=cores(f'{BURST}, {{"core_id": 1, "perf_profile": "balanced"}}'),
        right=cores(f'{BURST}, {{"core_id": 1}}'),
    ),
)
