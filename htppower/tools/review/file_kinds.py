"""Finds the kind of a file by its folder and the keys at its top: a profile, a test, an extension file, and so on.

These functions do not note a file as opened: it may be an earlier report in the folder, which may be replaced.
"""

from __future__ import annotations

import codecs
import enum
import itertools
import os
import re
from typing import TYPE_CHECKING, Any

import yaml

from htppower.profiles.discovery import DEVICES, SUFFIXES
from htppower.profiles.extends import KEYS
from htppower.profiles.paths import TEMPLATES
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, read_regular_file
from htppower.profiles.strict_yaml import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

# A test of profiles has both of these.
_OF_TESTS = frozenset({"test", "cases"})
# A device model has the first of these, and one of the others.
_DEVICE = "device"
_OF_DEVICES = frozenset({"active_w", "raised_idle_w", "raise_late_us", "raise_call_us", "speeds", "wakes"})
# The file of a service has the first of these, and one of the others.
_SERVICE = "service"
_OF_SERVICES = frozenset({"users", "most_connections", "power_saver_cap", "thermal_cap", "metrics_port"})
_KNOWN_KEYS = _OF_TESTS.union(KEYS, _OF_DEVICES, {_DEVICE}, _OF_SERVICES, {_SERVICE})
JSON = ".json"
# The usual names of extension files. A file with any other name may be one by its content.
EXTENSION_SUFFIXES = (JSON, ".conf", ".cfg", ".config", *TEMPLATES)
# Each line of these files is JSON by itself.
_LINES_OF_JSON = (".jsonl", ".ndjson", ".log")
_HEAD_BYTES = 256
# Keys at the top of an extension file that hardly any other file has, and keys of other files.
_EXTENSION_TOP = frozenset({"devices", "graphs", "groupContext", "backend_extensions"})
_NO_EXTENSION = frozenset({"$schema", *KEYS})
_EXTENSION_KEY = rb'"(?:devices|graphs|groupContext|backend_extensions)"\s*:\s*[\[{]'
# Other tools have lists of devices and graphs, too. A key of the HTP, in any spelling, tells them apart.
_HTP_KEY = (
    rb'"(?:[^"\n]{0,40}(?:perf_?profile|vtcm|rpc_|hmx|hvx|dlbc)[^"\n]{0,40}|cores?|core_(?:id|type)|graph_?names?'
    rb'|soc_?(?:id|model)|dsp_?arch|pd_?session|O|backend_extensions|groupContext)"\s*:'
)
# A key of a profile or power state, at any place.
_OWN_KEY = rf"\b(?:{'|'.join(sorted(KEYS))})\b[\"']?\s*:".encode()
# The name of a profile, after comments and empty lines only, since a line inside a text may look the same.
_NAME = rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*profile: +(?P<name>[a-z_]+)[ \t\r]*\n"
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Each value has a key and, if it contains others, an end event.
_MOST_EVENTS = 3 * MOST_VALUES
_KEY = r"^[\"']?(?P<key>\w+)[\"']?\s*:"


class Kind(enum.Enum):
    """The kind of a file; OTHER is any other YAML."""

    PROFILE = "profile"
    STATE = "power state"
    TEST = "test"
    EXTENSION = "extension file"
    DEVICE = "device model"
    SERVICE = "service"
    OTHER = "other"


def kind_of(path: str, given: bytes | None = None) -> Kind:
    """Return the kind of a file, or of the content ``given`` instead of it, by its folder and its top keys.

    A file that can't be read counts as a profile. Reading it then reports the fault.
    """
    folder = folder_name(path)
    of_tests = 1 if folder == "tests" else len(_OF_TESTS)  # how many keys of a test make a file a test
    keys = _keys(path, given, of_tests)
    if len(keys & _OF_TESTS) >= of_tests:
        return Kind.TEST
    if folder == "states" or ("state" in keys and "profile" not in keys):
        return Kind.STATE
    if _DEVICE in keys and keys.isdisjoint(KEYS) and (folder == DEVICES or not keys.isdisjoint(_OF_DEVICES)):
        return Kind.DEVICE
    if _SERVICE in keys and keys.isdisjoint(KEYS) and not keys.isdisjoint(_OF_SERVICES):
        return Kind.SERVICE
    return Kind.PROFILE if keys.intersection(KEYS) else Kind.OTHER


def extension_kind(path: str, given: bytes | None = None) -> Kind:
    """Return whether a JSON file is an extension file, by the keys at its top; a broken file, by a key at any place."""
    data = _content(path, given)
    if data is None or len(data) > LARGEST_FILE_BYTES or not re.search(_EXTENSION_KEY, data):
        return Kind.OTHER
    import json  # noqa: PLC0415 - only for such a file

    from htppower.tools.extensions.json_text import filled, is_template  # noqa: PLC0415 - only for such a file

    try:
        top = json.loads(filled(data.decode("utf-8", "replace")) if is_template(path) else data)
    except (ValueError, RecursionError):
        return Kind.EXTENSION
    is_one = isinstance(top, dict) and not _EXTENSION_TOP.isdisjoint(top) and _NO_EXTENSION.isdisjoint(top)
    return Kind.EXTENSION if is_one else Kind.OTHER


def begins_as_json(path: str, given: bytes | None = None) -> bool:
    """Return whether a file, or the content ``given`` instead of it, begins like an object of JSON."""
    head = _content(path, given, _HEAD_BYTES)
    return head is not None and head[:_HEAD_BYTES].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def _content(path: str, given: bytes | None, most_bytes: int = LARGEST_FILE_BYTES) -> bytes | None:
    """Return the begin of a file, or the content ``given`` instead of it; None if the file can't be read."""
    try:
        return read_regular_file(path, most_bytes, noted=False) if given is None else given
    except (OSError, ValueError):
        return None


def is_extension_in_folder(path: str) -> bool:
    """Return whether a file in a folder, of any name, is an extension file, by its content."""
    if not path.endswith(JSON) and (path.endswith(_LINES_OF_JSON) or not begins_as_json(path)):
        return False
    if extension_kind(path) is not Kind.EXTENSION:
        return False
    data = _content(path, None)
    return data is None or data.count(b'":') == 1 or re.search(_HTP_KEY, data, re.IGNORECASE) is not None


def named_kind(path: str, given: bytes | None = None) -> Kind:
    """Return the kind of a named file, or of the content ``given`` instead of it, whatever its name.

    JSON is an extension file unless it has a key of a profile or power state, which may be JSON, too. YAML is an
    extension file only if its content shows it.
    """
    is_json = path.endswith(JSON) or begins_as_json(path, given)
    if is_json and extension_kind(path, given) is Kind.EXTENSION:
        return Kind.EXTENSION
    kind = kind_of(path, given)
    if not is_json or path.endswith(SUFFIXES):
        return kind
    # The file may be broken, so its keys may be at any place.
    is_own = kind in (Kind.PROFILE, Kind.STATE) and re.search(_OWN_KEY, _content(path, given) or b"")
    return kind if is_own else Kind.EXTENSION


def named_first(path: str, given: bytes | None = None) -> str:
    """Return the profile's name if a file, or the content ``given`` instead of it, begins with it; else nothing.

    Only comments may be above it. Any other file must be parsed to find the name.
    """
    found = re.match(_NAME, _content(path, given) or b"")
    return found["name"].decode() if found else ""


def folder_name(path: str) -> str:
    """Return the name of a file's folder, even if the path does not contain it."""
    return os.path.basename(os.path.dirname(os.path.abspath(path)))  # links are kept


def _keys(path: str, given: bytes | None, of_tests: int) -> set[str]:
    """Return the keys at the top of a file.

    Keys of a profile at the beginning of a line count. The file is parsed if it has none, or if it has a key of a test,
    since a test is left out. Parsing stops after ``of_tests`` keys of a test.
    """
    data = _content(path, given)
    if data is None:
        return set(KEYS)
    text = data[:LARGEST_FILE_BYTES].removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    keys = {match["key"] for match in re.finditer(_KEY, text, re.MULTILINE)} & _KNOWN_KEYS
    if keys - _OF_DEVICES - _OF_SERVICES and not keys & _OF_TESTS:
        return keys
    parsed: set[str] = set()
    try:
        for key in top_keys(text):
            parsed.add(key)
            if len(parsed & _OF_TESTS) >= of_tests:
                break
    except NoMapping:
        return keys or set(KEYS)
    return parsed


class NoMapping(ValueError):  # noqa: N818 - reads as what it is
    """A text is not YAML, is not a mapping, has a second document, or is larger than a file may be."""


def top_keys(text: str) -> Iterator[str]:
    """Yield the top-level keys of a text one by one, so that a reader may stop at the key that it needs.

    Raises:
        NoMapping: raised only when the reader reaches the problem.
    """
    depth = nodes = 0
    found = False
    try:
        events = yaml.parse(text, Loader=_LOADER)
        for event in itertools.islice(events, _MOST_EVENTS):
            if isinstance(event, yaml.NodeEvent):
                if depth == 0 and (found or not isinstance(event, yaml.MappingStartEvent)):
                    raise NoMapping
                found = True
                # In the top-level mapping, keys and values alternate.
                if depth == 1 and nodes % 2 == 0 and isinstance(event, yaml.ScalarEvent):
                    yield event.value
                nodes += depth == 1
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        more = next(events, None)
    except yaml.YAMLError:
        raise NoMapping from None
    if more is not None or not found:
        raise NoMapping
