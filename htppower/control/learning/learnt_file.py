"""The file of what sessions have learnt: read whole or not at all, and replaced whole."""

from __future__ import annotations

import errno
import json
import logging
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.control.files.new_file import begin_of, put_in_place, something_else
from htppower.profiles.made_in_code import wrong_sustain
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from htppower.sustain.base import LearnerState

_LOGGER = logging.getLogger("htppower")

KIND = "htppower learnt"
FORMAT = 1
# An entry takes some 500 bytes. A larger file is not ours: its end is cut off, and the rest is not JSON.
_MOST_BYTES = 16 * 1024 * 1024
# The kind stands near the beginning.
_ENOUGH_TO_TELL = 4096


@attrs.frozen
class Entry:
    """The knowledge of one owner's sessions with one profile.

    Attributes:
        owner: the owner.
        profile: the name of the profile.
        further: whether this is the time until lowered votes relax further, and not the sustain time.
        sustain: how the time is learnt. The state is of no use for other values.
        state: what the learner knows.
    """

    owner: str
    profile: str
    further: bool
    sustain: Adaptive
    state: LearnerState

    @property
    def key(self) -> tuple[str, str, bool]:
        """The owner, the profile, and which time."""
        return self.owner, self.profile, self.further

    @property
    def gaps(self) -> int:
        """How many gaps it was learnt from."""
        return make_learner(self.sustain, self.state).gaps


def read_or_put_aside(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a file. If it is damaged, or of a later version, it is renamed, and the log tells.

    Raises:
        OSError: the file can't be read, or its folder is missing.
        ValueError: the file holds something else.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder is missing: make that first", str(path))
    text = begin_of(path, _MOST_BYTES, "what is learnt")
    if text is None:
        return ()
    if text and KIND.encode("ascii") not in text[:_ENOUGH_TO_TELL]:
        raise something_else(path, "what sessions have learnt")
    try:
        document = json.loads(text)
        if document["format"] != FORMAT or type(document["entries"]) is not list:
            raise ValueError(f"it has no entries in the format {FORMAT}")  # noqa: TRY301
        return tuple(map(_entry, document["entries"]))
    except (TypeError, ValueError, LookupError, RecursionError) as error:
        aside = path.replace(f"{path}.bad")
        _LOGGER.warning("%s is not used, and is now %s: %s; sessions learn anew", path, aside, error)
        return ()


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Replace the file.

    Raises:
        OSError: it can't be written; the old file is left as it was.
    """
    document = {
        "format": FORMAT,
        "kind": KIND,
        "htppower": __version__,
        "entries": [attrs.asdict(each, recurse=False) | {"sustain": attrs.asdict(each.sustain)} for each in entries],
    }
    # Robots and cars lose their power without notice.
    put_in_place(path, f"{json.dumps(document, separators=(',', ':'))}\n".encode("ascii"), lasting=True).close()


def _entry(entry: Any) -> Entry:
    """Return an entry.

    Raises:
        TypeError, ValueError, LookupError: no learner can go on with it.
    """
    owner, profile, further = entry["owner"], entry["profile"], entry["further"]
    sustain = Adaptive(**entry["sustain"])
    kinds = type(owner), type(profile), type(further)
    if kinds != (str, str, bool) or any(wrong_sustain(sustain, ("sustain",))):
        raise TypeError("an entry has a value of another type")
    make_learner(sustain, entry["state"])
    return Entry(owner, profile, further, sustain, entry["state"])
