"""The file of what sessions have learnt: read whole or not at all, and put in its place whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.control.files.new_file import put_in_place
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KIND = "htppower learnt"
FORMAT = 1
# More than that is none of ours: an entry takes some 500 bytes.
_MOST_BYTES = 16 * 1024 * 1024


class NotLearntError(ValueError):
    """A file that holds something else than what sessions have learnt, or holds it damaged."""


@attrs.frozen
class Entry:
    """What the sessions of one owner have learnt with one profile.

    Attributes:
        owner: the owner.
        profile: the name of the profile.
        further: whether it is the time until relaxed votes relax further, and not the sustain time.
        sustain: how it is learnt there; what was learnt otherwise is of no use.
        state: what a learner knows.
    """

    owner: str
    profile: str
    further: bool
    sustain: Adaptive
    state: Mapping[str, int | list[int]]

    @property
    def key(self) -> tuple[str, str, bool]:
        """The owner, the profile, and which time."""
        return self.owner, self.profile, self.further

    @property
    def gaps(self) -> int:
        """How many gaps it was learnt from."""
        return make_learner(self.sustain, self.state).gaps


def read(path: str) -> tuple[Entry, ...]:
    """Return what a file holds; nothing where there is none.

    Raises:
        OSError: it can't be read.
        NotLearntError: it holds something else, or holds it damaged or in a form of a later version.
    """
    try:
        text = read_regular_file(path, _MOST_BYTES)
    except FileNotFoundError:
        return ()
    except NotRegular as error:
        raise NotLearntError(f"it is {error}") from None
    if len(text) > _MOST_BYTES:
        raise NotLearntError(f"it has more than {_MOST_BYTES} bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotLearntError(f"it is no JSON: {error}") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise NotLearntError("it holds something else than what sessions have learnt")
    if document.get("format") != FORMAT:
        raise NotLearntError(f"it has the format {document.get('format')!r}, and this version reads {FORMAT}")
    entries = document.get("entries")
    if not isinstance(entries, list):
        raise NotLearntError("it has no list of entries")
    return tuple(_entry(at, each) for at, each in enumerate(entries))


def write(path: str, entries: Iterable[Entry]) -> None:
    """Put a file with these entries in place of what is there.

    Raises:
        OSError: it can't be written; what was there is as it was.
    """
    document = {
        "format": FORMAT,
        "kind": KIND,
        "htppower": __version__,
        "entries": [
            {
                "owner": each.owner,
                "profile": each.profile,
                "further": each.further,
                "sustain": attrs.asdict(each.sustain),
                "state": dict(each.state),
            }
            for each in entries
        ],
    }
    # Robots and cars lose their power without a word.
    put_in_place(path, f"{json.dumps(document, separators=(',', ':'))}\n".encode("ascii"), lasting=True).close()


def _entry(at: int, entry: Any) -> Entry:
    """Return an entry of which a learner can be made.

    Raises:
        NotLearntError: none can.
    """
    try:
        names = ("owner", "profile", "further", "sustain", "state")
        owner, profile, further, sustain, state = (entry[name] for name in names)
        made = Entry(_text(owner), _text(profile), _flag(further), _sustain(sustain), state)
        make_learner(made.sustain, made.state)
    except (TypeError, ValueError, KeyError, LookupError, AttributeError) as error:
        raise NotLearntError(f"entries[{at}] is damaged: {error!r}") from None
    return made


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _sustain(fields: Mapping[str, Any]) -> Adaptive:
    """Return how a time was learnt.

    Raises:
        TypeError, KeyError: these are no fields of that.
    """
    names = [field.name for field in attrs.fields(Adaptive)]
    values = {name: fields[name] for name in names}
    if any(type(value) is not int and not (value is None and name in names[:2]) for name, value in values.items()):
        raise TypeError("a value of the sustain time is no whole number")
    if [values["break_even_us"], values["cold_starts_ppm"]].count(None) != 1:
        raise TypeError("neither break-even time nor cold starts, or both")
    return Adaptive(**values)
