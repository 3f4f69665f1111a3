"""Makes extension files from a seed, with errors in keys, types, ranges, words, places and dialects."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from htppower.tools.extensions.keys import (
    CORNERS,
    EXPANDED_CORNERS,
    GRAPH_STATES,
    KEYS,
    PERF_PROFILES,
    POWER_MODES,
    Section,
    Type,
)

if TYPE_CHECKING:
    import random

    from htppower.tools.extensions.keys import Key

CHAT_APP = {
    "devices": [
        {
            "soc_model": 69,
            "dsp_arch": "v79",
            "cores": [{"core_id": 0, "perf_profile": "burst", "rpc_control_latency": 100}],
        }
    ],
    "memory": {"mem_type": "shared_buffer"},
    "groupContext": {"share_resources": True},
}
_OLD = {"graphs": {"vtcm_mb": 8, "graph_names": ["model"]}, "devices": [{"soc_id": 43}]}
# Values that no key accepts, values that every key of a type accepts, and values at the bounds.
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 5, 255, 256, 4095, 4096, 10_000, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1),
    *(2**64, -(2**63), 1.0, 0.5, -1.5, 1e20, -0.0, "", "x", "1", "burst", "v79", "shared_buffer", "BURST", "custom"),
    *([], [0], ["x"], [None], [[]], [1.0], [True], [["x"]], [{}], {}, {"x": 1}, {"x": None}, {"core_id": 1}),
)
_STRANGE = ("_comment", "zzz", "Perf_Profile", "perfProfile", "my_core_id", "NOTE", "note", "sleep_disable", "poll", "")
_DIALECT = (
    lambda text, _: "// made by hand\n" + text,
    lambda text, _: text.replace("{", "{ /* x */", 1),
    lambda text, _: text[:-1] + ",}",
    lambda text, random: text.replace("]", ",]", random.randint(1, 2)),
    lambda text, _: "\ufeff" + text,
    lambda text, _: text.replace('"', "'"),
    lambda text, _: text + "\n\n",
    lambda text, _: text + "\0 behind",
    lambda text, _: text + " {}",
    lambda text, _: text.replace("true", "True"),
    lambda text, _: text.replace("0", "0.0", 1),
    lambda text, _: text.replace("1", "01", 1),
    lambda text, _: text.replace("1", "1e2", 1),
    lambda text, _: text.replace("0", "NaN", 1),
    lambda text, _: text.replace("e", "\\u0065", 1),
    lambda text, _: text.replace('"devices"', '"devices": [], "devices"', 1),
    lambda text, random: text[: random.randint(0, len(text))],
    lambda text, random: _without_one(text, random.randrange(len(text) or 1)),
    lambda text, random: _doubled(text, random.randrange(len(text) or 1)),
    lambda text, random: _struck(text, random),  # noqa: PLW0108 - it is defined below
)


def extension_text(random: random.Random) -> bytes:
    """Return a valid file with changes at up to four places."""
    data = _start(random)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        _change(random, data)
    text = json.dumps(data, indent=random.choice((None, 2)))
    if random.random() < 0.15:
        text = random.choice(_DIALECT)(text, random)
    if random.random() < 0.1:
        text = _twice(random, text)
    return text.encode("utf-8", "surrogateescape")


def _start(random: random.Random) -> dict[str, Any]:
    kind = random.random()
    if kind < 0.15:
        return copy.deepcopy(CHAT_APP)
    if kind < 0.17:
        return copy.deepcopy(_OLD)
    top: dict[str, Any] = {}
    if random.random() < 0.8:
        top["devices"] = [_object(random, Section.DEVICE) for _ in range(random.choice((0, *[1] * 18, 2)))]
    if random.random() < 0.5:
        top["graphs"] = [_object(random, Section.GRAPH, most=6) for _ in range(random.choice((1, 1, 2)))]
    if random.random() < 0.3:
        top["context"] = _object(random, Section.CONTEXT)
        if random.random() < 0.3:
            top["context"] = [top["context"], _object(random, Section.CONTEXT)]
    if random.random() < 0.2:
        top["groupContext"] = _object(random, Section.GROUP_CONTEXT)
    if random.random() < 0.2:
        top["memory"] = _object(random, Section.MEMORY)
    return top


def _object(random: random.Random, section: Section, most: int = 4) -> dict[str, Any]:
    """Return an object of a section with some of its keys, including all required ones."""
    keys = [key for (where, _), key in KEYS.items() if where is section]
    chosen = [key for key in keys if key.required] + random.sample(keys, min(len(keys), random.randint(0, most)))
    made = {key.name: _value(random, key) for key in chosen}
    if section is Section.DEVICE and random.random() < 0.8:
        made["cores"] = [_object(random, Section.CORE) for _ in range(random.choice((1, 1, 1, 2)))]
    if section is Section.CORE:
        made.pop("custom", None)
        if made.get("perf_profile") == "custom" or random.random() < 0.3:
            made["perf_profile"] = "custom"
            made["custom"] = _custom(random)
    if section is Section.CUSTOM_ITEM and "dcvsExpControl" not in made:
        made["dcvsControl"] = _object(random, Section.DCVS)
    return made


def _custom(random: random.Random) -> Any:
    if random.random() < 0.2:
        return _object(random, Section.CUSTOM_OBJECT, most=1)
    return [_object(random, Section.CUSTOM_ITEM, most=2) for _ in range(random.choice((1, 1, 2)))]


def _value(random: random.Random, key: Key) -> Any:
    """Return a value that is valid for the key by the table."""
    if key.type is Type.OBJECT and key.holds is not None:
        return _object(random, key.holds)
    highest = 255 if key.limits is None else int(key.limits.high)
    number = random.choice((0, 1, 5, 100, highest))
    made: dict[Type, Any] = {
        Type.BOOL: random.random() < 0.5,
        Type.INTEGER: min(number, highest),
        Type.WHOLE: min(number, highest),
        Type.NUMBER: random.choice((1, 2, 3)),
        Type.TEXT: random.choice(("x", "linting", "")),
        Type.WORD: random.choice(key.words or ("",)),
        Type.TEXTS: random.sample(GRAPH_STATES, random.randint(1, 3)) if key.words else ["g", "h"],
        Type.TEXT_LISTS: [["a"], ["b", "c"]],
        Type.INTEGERS: [0, 1],
        Type.OBJECT: {},
        Type.OBJECTS: [],
        Type.OBJECT_OR_OBJECTS: {},
        Type.INTEGER_OR_WORD: random.choice((1, "auto")),
    }
    return made[key.type]


def _containers(value: Any) -> list[Any]:
    """Return the objects and lists in a value, including the value itself."""
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in _containers(each))]
    if isinstance(value, list):
        return [value, *(found for each in value for found in _containers(each))]
    return []


def _change(random: random.Random, data: dict[str, Any]) -> None:
    """Change a value, a key or an item; a new value is odd, or belongs to another key."""
    within = random.choice(_containers(data))
    if isinstance(within, list):
        if within and random.random() < 0.5:
            within[random.randrange(len(within))] = _odd(random)
        elif within and random.random() < 0.5:
            within.append(copy.deepcopy(random.choice(within)))
        else:
            within.append(_odd(random))
        return
    action = random.random()
    names = list(within)
    if action < 0.35 and names:
        within[random.choice(names)] = _odd(random)
    elif action < 0.5 and names:
        del within[random.choice(names)]
    elif action < 0.6 and names:
        name = random.choice(names)
        within[random.choice((name.upper(), name + "x", name[:-1], "x" + name))] = within.pop(name)
    elif action < 0.75:
        within[random.choice(_STRANGE)] = _odd(random)
    else:
        key = random.choice(list(KEYS.values()))
        within[key.name] = _value(random, key)


def _odd(random: random.Random) -> Any:
    if random.random() < 0.25:
        return random.choice((*CORNERS, *EXPANDED_CORNERS, *POWER_MODES, *PERF_PROFILES, *GRAPH_STATES))
    return copy.deepcopy(random.choice(_ODD))


def _twice(random: random.Random, text: str) -> str:
    """Return a text with a duplicate key, whose other value is before or after the first."""
    at = [place for place, character in enumerate(text) if character == "{" and text[place + 1 : place + 2] == '"']
    at = [place for place in at if '"' in text[place + 2 :]]
    if not at:
        return text
    place = random.choice(at) + 1
    key = text[place : text.index('"', place + 1) + 1]
    return f"{text[:place]}{key}: {json.dumps(_odd(random))}, {text[place:]}"


def _without_one(text: str, place: int) -> str:
    return text[:place] + text[place + 1 :]


def _doubled(text: str, place: int) -> str:
    return text[: place + 1] + text[place:]


def _struck(text: str, random: random.Random) -> str:
    place = random.randrange(len(text) or 1)
    return text[:place] + random.choice('{}[]",:0-.eE\\/ \t\n\0\x01\x7fé') + text[place + 1 :]


def left_open(data: bytes) -> bool:
    """Return whether the model only calls a file odd, such as a file with several devices: the first is used."""
    odd = False

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal odd
        odd = odd or any("devices" in name and isinstance(value, list) and len(value) > 1 for name, value in members)
        return dict(members)

    try:
        json.loads(data.decode("utf-8", "replace").split("\0", maxsplit=1)[0].lstrip("\ufeff"), object_pairs_hook=pairs)
    except ValueError:
        return False
    return odd
