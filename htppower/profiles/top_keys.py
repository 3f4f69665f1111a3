"""The top-level keys of a YAML text, for code that needs nothing else of a file."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import yaml

from htppower.profiles.strict_yaml import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Each value has a key and, if it contains others, an end event.
_MOST_EVENTS = 3 * MOST_VALUES


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
