"""The second pass of the vendor's parser over a file: each plain value, by its path of keys.

Measured on QAIRT 2.51. The keys on the path to a value are joined. If the path contains "graphs", or both "devices" and
"cores", the parser searches it for the words of a list. The first word of the list that occurs in the path determines
the allowed values; if no word occurs, the parser refuses the file. null is skipped. So an unknown key with an empty
object is accepted, ``"my_core_id": 1`` is accepted in a core, and ``"_comment": "x"`` in a core is refused.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.key_table import (
    CORNERS,
    EXPANDED_CORNERS,
    GRAPH_STATES,
    KEYS,
    PERF_PROFILES,
    POWER_MODES,
)
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.refusals.numbers import is_number, is_uint64_like, is_uint_like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.errors import KeyPath
    from htppower.tools.extensions.json_nodes import Member, Node

_LARGEST_VTCM_MB = 4095
_LAST_DEVICE_TYPE = 1
# The separator of keys in a path, and the suffix for a list item.
_JOIN, _ITEM = ".", "[]"
_NAMES = sorted({name for _, name in KEYS}, key=len, reverse=True)


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


def _bool(node: Node) -> bool:
    return node.kind is Kind.BOOL


def _text(node: Node) -> bool:
    return node.kind is Kind.TEXT


def _not_looked_up(_: Node) -> bool:
    """Accept any value, even if a lookup finds nothing in its place."""
    return True


def _any(_: Node) -> bool:
    """Accept any value that is found."""
    return True


def _nothing(_: Node) -> bool:
    return False


def _word(words: tuple[str, ...]) -> Callable[[Node], bool]:
    return lambda node: _text(node) and node.value.partition("\0")[0] in words


def _vtcm(node: Node) -> bool:
    return is_uint_like(node) and node.value <= _LARGEST_VTCM_MB


# The words in the order in which the parser tries them, each a pattern, with the allowed values. The order was measured
# with every pair of words in one key.
_Rules = tuple[tuple[str, "Callable[[Node], bool]"], ...]


def _each(allows: Callable[[Node], bool], *words: str) -> _Rules:
    return tuple((word, allows) for word in words)


_GRAPH: _Rules = (
    (r"graph_names", _text),
    (r"^graphs\[\]\.finalize_config\.", _not_looked_up),
    (r"finalize_config", _nothing),
    *_each(is_uint_like, "O", "num_cores"),
    *_each(_bool, "assume_same_quant", "share_io_buffer", "short_depth_conv_on_hmx_off", "high_precision_sigmoid"),
    *_each(_bool, "monolithic_lstm", "fold_relu_activation_into_conv_off", "advanced_activation_fusion"),
    *_each(_bool, "precision_compensation", "fp16_clamp_overflow", "enable_predication"),
    *_each(is_uint_like, "fp16_relaxed_precision", "hvx_threads", "dlbc", "sparse_weights_compression"),
    *_each(is_uint_like, "cached_weights", "vtcm_retention"),
    (r"vtcm_mb", _vtcm),
    (r"vtcm_size", is_uint_like),
    (r"perf_profile", _word(PERF_PROFILES)),
    (r"weights_packing", _bool),
    (r"slc_alloc_enable", is_uint_like),
    (r"hmx_op_bounding\.(hmx_frequency|dsp_core_frequency)", is_number),
    (r"hmx_op_bounding", _nothing),
    (r"\.dynamic_partitioning[.\[]", is_uint_like),
)
# An architecture is "v" and any number that C can read after it, or no number at all.
ARCH = re.compile(r"v[ \t\n\v\f\r]*[+-]?0*[1-9][0-9]*|$")
_DEVICE: _Rules = (
    *_each(is_uint_like, "device_id", "soc_id", "soc_model"),
    (r"dsp_arch", lambda node: _text(node) and ARCH.match(node.value.partition("\0")[0]) is not None),
    (r"pd_session", _word(("unsigned", "signed"))),
    *_each(_bool, "use_client_context", "use_dynamic_partitioning"),
    *_each(_bool, "enable_htp_extension", "consolidate_htp_extension"),
    (r"profiling_level", _text),
    (r"async_voting", _bool),
    *_each(is_uint_like, "core_id", "core_type"),
    (r"device_type", lambda node: is_uint_like(node) and node.value <= _LAST_DEVICE_TYPE),
    (r"enable_async_execute", _bool),
)
_IN_CORE = _each(is_uint_like, "rpc_control_latency", "rpc_polling_time", "hmx_timeout_us")
_CORE: _Rules = (
    *_DEVICE,
    *_IN_CORE,
    (r"perf_profile", _word(PERF_PROFILES)),
    (r"hmxControl.*hmx(PickDefault|PerfMode)", is_uint_like),
    (r"hmxControl.*hmxVoltageCorner(Min|Target|Max)", _word(EXPANDED_CORNERS)),
    (r"hmxControl", _not_looked_up),
    (r"adaptive_polling_time", is_uint_like),
    (r"ddr_perf_mode", _bool),
)
_CONTEXT: _Rules = (
    (r"contextKey", _text),
    (r"^context(\[\])*\.lora_preload_buffer_group([.\[]|$)", _text),
    (r"weight_sharing_enabled", _bool),
    (r"group_id", is_uint_like),
    *_each(is_uint64_like, "max_spill_fill_buffer_for_group", "file_read_memory_budget_in_mb"),
    *_each(_bool, "dsp_memory_profiling_enabled", "io_memory_estimation", "prepare_only", "init_acceleration"),
    *_each(_bool, "skip_validation_on_binary_section", "extended_udma", "lora_weight_sharing"),
    *_each(_bool, "detachable_buffers_enabled", "hard_detach_enabled"),
    (r"reused_io_limit_mb", is_uint64_like),
    (r"graph_splitting_enabled", _bool),
    *_each(
        lambda node: _text(node) or is_uint_like(node),
        r"graph_splitting_configs.*num_prepare_threads",
        r"num_prepare_threads.*graph_splitting_configs",
    ),
    (r"concurrent_deserialization_patch", _text),
)
# For these words the parser looks up a known key, whatever its value is.
_OTHERS: _Rules = tuple(
    (rf"^{section}\.{name}$", _any) for section, name in KEYS if section in (Section.GROUP_CONTEXT, Section.MEMORY)
)
_CUSTOM_OBJECT: _Rules = (
    *_DEVICE,
    *_IN_CORE,
    (r"custom\.dcvsControl\.(start|done)", _nothing),
    (r"custom\.dcvsControl", _not_looked_up),
    (r"custom\..*hmxControl.*hmx(PickDefault|PerfMode)", is_uint_like),
    (r"custom\..*hmxControl.*hmxVoltageCorner(Min|Target|Max)", _word(EXPANDED_CORNERS)),
)
_CUSTOM_ITEMS: _Rules = (
    *_DEVICE,
    *_IN_CORE,
    (r"graphState", _word(GRAPH_STATES)),
    (r"sustainInferencePerfState", _bool),
    (r"dcvsControl.*(bus|core)VoltageCorner(Min|Target|Max)", _word(CORNERS)),
    (r"dcvsControl.*enableDcvs", _bool),
    (r"dcvs(Exp)?Control.*sleep_latency_us", is_uint_like),
    (r"dcvs(Exp)?Control.*powerMode", _word(POWER_MODES)),
    (r"dcvsExpControl.*(bus|core)VoltageCorner(Min|Target|Max)", _word(EXPANDED_CORNERS)),
    (r"dcvsExpControl.*(sleepDisable|corePerfMode|busPerfMode)", is_uint_like),
    (r"dcvs(Exp)?Control", _nothing),
    (r"hmxControl.*hmx(PickDefault|PerfMode)", is_uint_like),
    (r"hmxControl.*hmxVoltageCorner(Min|Target|Max)", _word(EXPANDED_CORNERS)),
    (r"cengControl.*cengVoltageCorner(Min|Target|Max)", _word(CORNERS)),
    (r"cengExpControl.*cengVoltageCorner(Min|Target|Max)", _word(EXPANDED_CORNERS)),
    (r"ceng(Exp)?Control.*cengPerfMode", is_uint_like),
)


# Patterns that must occur in a path one after the other.
Words = tuple["re.Pattern[str]", ...]


def words_of(form: str) -> Words:
    """Split a form at each ``.*`` into its patterns."""
    return tuple(map(re.compile, form.split(".*")))


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


def _compiled(rules: _Rules) -> tuple[tuple[Words, Callable[[Node], bool]], ...]:
    return tuple((words_of(form), allows) for form, allows in rules)


_OF_GRAPH, _OF_CORE = _compiled(_GRAPH), _compiled(_CORE)
_OF_DEVICE, _OF_CONTEXT, _OF_OTHERS = _compiled(_DEVICE), _compiled(_CONTEXT), _compiled(_OTHERS)
_OF_OBJECT, _OF_ITEMS = _compiled(_CUSTOM_OBJECT), _compiled(_CUSTOM_ITEMS)
_AS_ITEMS, _AS_OBJECT = re.compile(r"custom(?:(?!custom)[^.\[])*\["), re.compile(r"\.custom\.")


@functools.lru_cache(maxsize=4096)
def _word_at(path: str) -> tuple[str, Callable[[Node], bool] | None, bool]:
    """Return the known key that matches a path, its check or None, and whether a match is required."""
    must = True
    if "graphs" in path:
        rules = _OF_GRAPH
    elif "devices" in path and "cores" in path:
        as_object = _OF_OBJECT if _AS_OBJECT.search(path) else _OF_CORE
        rules = _OF_ITEMS if _AS_ITEMS.search(path) else as_object
    else:
        of_device = _OF_DEVICE if "devices" in path else ()
        of_context = _OF_CONTEXT if "context" in path else ()
        rules = (*of_device, *of_context) or _OF_OTHERS
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
