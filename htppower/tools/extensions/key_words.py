"""How the vendor's parser finds plain values: by the words in the keys on the path to them.

Measured on QAIRT 2.51. The keys on the path to a value are joined. If the path contains "graphs", or both "devices" and
"cores", the parser searches it for the known keys, in the order of ``keys.csv``. The first one that occurs in the path
determines the allowed values; if none occurs, the parser refuses the file. null is skipped. So an unknown key with an
empty object is accepted, ``"my_core_id": 1`` is accepted in a core, and ``"_comment": "x"`` in a core is refused.

If several values match a key, the last one counts: ``"my_perf_profile": "balanced"`` after ``"perf_profile": "burst"``
votes balanced, and so does ``perf_profile`` in an unknown object of a core.
"""

from __future__ import annotations

import functools
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import KEYS, UINT32, Section, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.tools.extensions.json_parser import Member, Node
    from htppower.tools.extensions.keys import Key

    Check = Callable[[Node], bool]
    Rules = tuple[tuple[str, Check], ...]

# Patterns that must occur in a path one after the other.
Words = tuple["re.Pattern[str]", ...]

# The separator of keys in a path, and the suffix for a list item.
_JOIN, _ITEM = ".", "[]"
_NAMES = sorted({name for _, name in KEYS}, key=len, reverse=True)
# An architecture is "v" and any number that C can read after it, or no number at all.
ARCH = re.compile(r"v[ \t\n\v\f\r]*[+-]?0*[1-9][0-9]*|$")


class Leaf(NamedTuple):
    """A plain value.

    Attributes:
        path: the path of keys to it.
        node: the value itself.
        key: the last key of the path; None outside of objects.
        word: the known key that matches, which accepts the value if the type fits; empty if no key matches.
        is_missing: whether a lookup finds no plain value there, for example if the first of two equal keys has none.
    """

    path: str
    node: Node
    key: Member | None = None
    word: str = ""
    is_missing: bool = False


def is_whole(node: Node, highest: float = UINT32.high) -> bool:
    """Return whether a value is a number without a sign, or a double with a whole value such as 1.0.

    The parser does not compare doubles with the largest number of 32 or of 64 bits.
    """
    if node.is_integer or highest < UINT32.high:
        return node.is_number and 0 <= node.value <= highest and float(node.value).is_integer()
    return node.is_number and node.value >= 0 and float(node.value).is_integer()


def _not_looked_up(_: Node) -> bool:
    """Accept any value, even if a lookup finds nothing in its place."""
    return True


def _any(_: Node) -> bool:
    """Accept any value that is found."""
    return True


def _nothing(_: Node) -> bool:
    return False


def _text(node: Node) -> bool:
    return node.kind is Kind.TEXT


def _check(key: Key) -> Check | None:
    """Return the check of a plain value by the type of its key; None for a key of objects."""
    highest = UINT32.high if key.limits is None else key.limits.high
    if key.name == "dsp_arch":
        return lambda node: _text(node) and ARCH.match(node.c_text) is not None
    if key.words and key.type is not Type.INTEGER_OR_WORD:
        return lambda node: _text(node) and node.c_text in key.words
    checks: dict[Type, Check] = {
        Type.BOOL: lambda node: node.kind is Kind.BOOL,
        Type.INTEGER: lambda node: is_whole(node, highest),
        Type.INTEGERS: is_whole,
        Type.WHOLE: is_whole,
        Type.NUMBER: lambda node: node.is_number,
        Type.TEXT: _text,
        Type.TEXTS: _text,
        Type.INTEGER_OR_WORD: lambda node: _text(node) or is_whole(node),
    }
    return checks.get(key.type)


def words_of(form: str) -> Words:
    """Split a form at each ``.*`` into its patterns."""
    return tuple(map(re.compile, form.split(".*")))


def _compiled(*rules: tuple[str, Check]) -> tuple[tuple[Words, Check], ...]:
    return tuple((words_of(form), allows) for form, allows in rules)


def _of(section: Section, within: str = "", names: tuple[str, ...] = ()) -> Rules:
    """Return the words of a section, or only some of them, each with its check.

    A word may be a pattern; ``within`` is a pattern that must occur before.
    """
    keys = (KEYS[section, name] for where, name in KEYS if where is section and (not names or name in names))
    return tuple((within + key.name, check) for key in keys if (check := _check(key)) is not None)


_HMX = _of(Section.HMX, r"hmxControl.*")
_GRAPH = _compiled(
    (r"graph_names", _text),
    (r"^graphs\[\]\.finalize_config\.", _not_looked_up),
    (r"finalize_config", _nothing),
    *(rule for rule in _of(Section.GRAPH) if rule[0] not in ("graph_names", "dynamic_partitioning")),
    *_of(Section.HMX_OP_BOUNDING, r"hmx_op_bounding\."),
    (r"hmx_op_bounding", _nothing),
    (r"\.dynamic_partitioning[.\[]", is_whole),
)
_DEVICE = _of(Section.DEVICE)
_IN_CORE = (*_DEVICE, *_of(Section.CORE, names=("rpc_control_latency", "rpc_polling_time", "hmx_timeout_us")))
_CORE = _compiled(
    *_IN_CORE,
    *_of(Section.CORE, names=("perf_profile",)),
    *_HMX,
    (r"hmxControl", _not_looked_up),
    *_of(Section.CORE, names=("adaptive_polling_time", "ddr_perf_mode")),
)
_OF_DEVICE = _compiled(*_DEVICE)
_CONTEXT = _compiled(
    (r"^context(\[\])*\.lora_preload_buffer_group([.\[]|$)", _text),
    *_of(Section.CONTEXT),
    *(
        (form, check)
        for name, check in _of(Section.GRAPH_SPLITTING, names=("num_prepare_threads",))
        for form in (f"graph_splitting_configs.*{name}", f"{name}.*graph_splitting_configs")
    ),
)
# For these words the parser looks up a known key, whatever its value is.
_OTHERS = _compiled(
    *((rf"^{section}\.{name}$", _any) for section, name in KEYS if section in (Section.GROUP_CONTEXT, Section.MEMORY))
)
_CUSTOM_OBJECT = _compiled(
    *_IN_CORE,
    (r"custom\.dcvsControl\.(start|done)", _nothing),
    (r"custom\.dcvsControl", _not_looked_up),
    *_of(Section.HMX, r"custom\..*hmxControl.*"),
)
_CUSTOM_ITEMS = _compiled(
    *_IN_CORE,
    *_of(Section.CUSTOM_ITEM),
    *_of(Section.DCVS, r"dcvsControl.*"),
    *_of(Section.DCVS_EXP, r"dcvsExpControl.*"),
    (r"dcvs(Exp)?Control", _nothing),
    *_HMX,
    (r"hmxControl", _nothing),
    *_of(Section.CENG, r"cengControl.*"),
    *_of(Section.CENG_EXP, r"cengExpControl.*"),
)


_AS_ITEMS, _AS_OBJECT = re.compile(r"custom(?:(?!custom)[^.\[])*\["), re.compile(r"\.custom\.")


def found_in(path: str, words: Words) -> str | None:
    """Return a path from the first of some words to the last occurrence of the last one; None if a word is missing.

    Each word is searched once: a single pattern for all would start again at each occurrence of the first word.
    """
    first = last = words[0].search(path)
    for word in words[1:]:
        last = last and word.search(path, last.end())
    if first is None or last is None:
        return None
    end = last.end()
    for again in words[-1].finditer(path, end) if len(words) > 1 else ():
        end = again.end()
    return path[first.start() : end]


@functools.lru_cache(maxsize=4096)
def _word_at(path: str) -> tuple[str, Callable[[Node], bool] | None, bool]:
    """Return the known key that matches a path, its check or None, and whether a match is required."""
    must = True
    if "graphs" in path:
        rules = _GRAPH
    elif "devices" in path and "cores" in path:
        as_object = _CUSTOM_OBJECT if _AS_OBJECT.search(path) else _CORE
        rules = _CUSTOM_ITEMS if _AS_ITEMS.search(path) else as_object
    else:
        of_device = _OF_DEVICE if "devices" in path else ()
        of_context = _CONTEXT if "context" in path else ()
        rules = (*of_device, *of_context) or _OTHERS
        must = False
    for words, allows in rules:
        if found := found_in(path, words):
            return _key_in(found.rstrip(_JOIN + _ITEM).rpartition(_JOIN)[2]), allows, must
    return "", None, must


def _key_in(name: str) -> str:
    """Return the longest known key name that another name contains."""
    return next((known for known in _NAMES if known in name), name)


def refused_leaves(root: Node) -> Iterator[Leaf]:
    """Yield the plain values that make the parser refuse the file."""
    for leaf in leaves(root):
        word, allows, must = _word_at(leaf.path)
        not_found = leaf.is_missing and allows is not _not_looked_up
        if must if allows is None else (not_found or not allows(leaf.node)):
            yield leaf._replace(word=word)


def named_leaves(node: Node, path: str) -> Iterator[Leaf]:
    """Yield the plain values in a value that match words, so that the parser reads them whatever their key is."""
    for leaf in leaves(node, path):
        word, allows, _ = _word_at(leaf.path)
        if allows is not None:
            yield leaf._replace(word=word)


def path_of(at: KeyPath) -> str:
    """Return the joined path of known keys to an object; list items by their index."""
    return "".join(_ITEM if key.isdecimal() else f"{_JOIN}{key}" for key in at).removeprefix(_JOIN)


def leaves(node: Node, path: str = "", key: Member | None = None) -> Iterator[Leaf]:
    """Yield each plain value except null, with its path of keys.

    The keys are looked up from the top: if a key is given twice, the first is found, and a key name ends at a NUL.
    """
    return _leaves(node, node, path, key, {})


def _leaves(
    node: Node, found: Node | None, path: str, key: Member | None, firsts: dict[int, dict[str, Member]]
) -> Iterator[Leaf]:
    """Yield the values in a node as a lookup finds them; ``firsts`` caches the keys of objects by their offset."""
    if node.kind is Kind.OBJECT:
        known = {} if found is None else firsts.get(found.start)
        if found is not None and known is None:
            known = firsts[found.start] = found.firsts()
        for member in node.members:
            name = member.key.partition("\0")[0]
            first = (known or {}).get(name)
            below = f"{path}{_JOIN}{name}" if path else name
            yield from _leaves(member.node, first and first.node, below, first or member, firsts)
    elif node.kind is Kind.LIST:
        items = () if found is None else found.items
        for number, item in enumerate(node.items):
            yield from _leaves(item, items[number] if number < len(items) else None, path + _ITEM, key, firsts)
    elif node.kind is not Kind.NULL:
        is_missing = found is None or found.kind in (Kind.OBJECT, Kind.LIST, Kind.NULL)
        yield Leaf(path, node if found is None or is_missing else found, key, is_missing=is_missing)


def by_words(at: KeyPath, node: Node) -> Mapping[str, Leaf]:
    """Return the plain values of an object by the keys that the parser reads them as; the last of several counts.

    Args:
        at: the known keys on the path to the object; list items by their index.
        node: the object.
    """
    return MappingProxyType({leaf.word: leaf for leaf in named_leaves(node, path_of(at))})


def read_as(at: KeyPath, member: Member) -> tuple[str, ...]:
    """Return the known keys that an unknown key is read as, by the words in its name; empty if it is ignored."""
    leaves = named_leaves(member.node, path_of((*at, member.key)))
    return tuple(dict.fromkeys(leaf.word for leaf in leaves))
