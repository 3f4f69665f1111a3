"""The keys at the top of a YAML text, for what needs to know no more of a file."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import yaml

from htppower.profiles.strict_yaml import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Each value has a key and, where it holds others, an end.
_MOST_EVENTS = 3 * MOST_VALUES


class NoMapping(ValueError):  # noqa: N818 - reads as what it is
    """A text is no YAML, holds no mapping or a second document, or holds more than a file may."""


def top_keys(text: str) -> Iterator[str]:
    """Yield the keys at the top of a text one by one, so that a reader may stop at the one that it looks for.

    Raises:
        NoMapping: when the reader comes to where that shows.
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
                # In the mapping at the top keys and values take turns.
                if depth == 1 and nodes % 2 == 0 and isinstance(event, yaml.ScalarEvent):
                    yield event.value
                nodes += depth == 1
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        more = next(events, None)
    except yaml.YAMLError:
        raise NoMapping from None
    if more is not None or not found:
        raise NoMapping
