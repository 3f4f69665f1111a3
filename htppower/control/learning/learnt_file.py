"""The file of what sessions have learnt: it is read completely or not at all, and always replaced as a whole."""

from __future__ import annotations

import errno
import json
import logging
import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.control.files.new_file import put_in_place
from htppower.profiles.made_in_code import wrong_sustain
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.sustain.base import LearnerState

_LOGGER = logging.getLogger("htppower")

KIND = "htppower learnt"
FORMAT = 1
# An entry takes some 500 bytes. A larger file was not written by this code. Only its beginning is read, which is then
# invalid JSON.
_MOST_BYTES = 16 * 1024 * 1024
# The kind of a file must be named within this many bytes.
_ENOUGH_TO_TELL = 4096


@attrs.frozen
class Entry:
    """What the sessions of one owner have learnt with one profile.

    Attributes:
        owner: the owner.
        profile: the name of the profile.
        further: whether this is the time until the second power state, and not the sustain time.
        sustain: how the profile lets the time be learnt. If the profile changes this, the state can't be used any more.
        state: the state of the learner.
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


def read_or_put_aside(path: str) -> tuple[Entry, ...]:
    """Return the entries of a file. If it is damaged, or of a later version, it is renamed, and the log reports this.

    Raises:
        OSError: the file can't be read, or its folder is missing.
        ValueError: the file has other contents.
    """
    folder = os.path.dirname(path)  # noqa: PTH120 - as the text that os takes
    if not os.path.isdir(folder):  # noqa: PTH112 - as above
        raise FileNotFoundError(errno.ENOENT, "its folder is missing: make that first", path)
    if os.path.isdir(path):  # noqa: PTH112 - as above
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    try:
        text = read_regular_file(path, _MOST_BYTES)
    except FileNotFoundError:
        return ()
    except NotRegular as error:
        raise ValueError(f"{path} is {error}: name a file for what is learnt") from None
    if text and KIND.encode("ascii") not in text[:_ENOUGH_TO_TELL]:
        raise ValueError(f"{path} holds something else than what sessions have learnt: remove it, or name another file")
    try:
        document = json.loads(text)
        if document["format"] != FORMAT or type(document["entries"]) is not list:
            raise ValueError(f"it has no entries in the format {FORMAT}")  # noqa: TRY301
        return tuple(map(_entry, document["entries"]))
    except (TypeError, ValueError, LookupError, RecursionError) as error:
        aside = f"{path}.bad"
        os.replace(path, aside)  # noqa: PTH105 - as above
        _LOGGER.warning("%s is not used, and is now %s: %s; sessions begin without learnt times", path, aside, error)
        return ()


def write(path: str, entries: Iterable[Entry]) -> None:
    """Replace the file.

    Raises:
        OSError: the file can't be written; the old file is unchanged.
    """
    document = {
        "format": FORMAT,
        "kind": KIND,
        "htppower": __version__,
        "entries": [attrs.asdict(each, recurse=False) | {"sustain": attrs.asdict(each.sustain)} for each in entries],
    }
    # The data must reach the disk, since robots and cars may lose their power at any time.
    put_in_place(path, f"{json.dumps(document, separators=(',', ':'))}\n".encode("ascii"), lasting=True).close()


def _entry(entry: Any) -> Entry:
    """Return the entry that a JSON object describes.

    Raises:
        TypeError, ValueError, LookupError: no learner can continue with it.
    """
    owner, profile, further = entry["owner"], entry["profile"], entry["further"]
    sustain = Adaptive(**entry["sustain"])
    kinds = type(owner), type(profile), type(further)
    if kinds != (str, str, bool) or any(wrong_sustain(sustain, ("sustain",))):
        raise TypeError("an entry has a value of another type")
    make_learner(sustain, entry["state"])
    return Entry(owner, profile, further, sustain, entry["state"])
