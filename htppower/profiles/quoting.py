"""Decides which files may be quoted in messages: profiles and power states in the folders in use.

A profile under review may come from anyone, and a name in it, or a link in its folder, may lead to any file of the
machine. Such a file is read, since a profile may be outside the folders. But unless the whole file is a valid profile,
messages show only its name, at the field that names it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower.errors import Finding, shortened
from htppower.profiles.discovery import SUFFIXES
from htppower.profiles.file_format import ProfileFields, StateFields, structure

if TYPE_CHECKING:
    from htppower.profiles.discovery import Folders
    from htppower.profiles.strict_yaml import Document

FIELDS_OF = {"profile": ProfileFields, "state": StateFields}
# A profile or power state has at least one of these keys at its top level.
KEYS = frozenset({"profile", "state", "extends", "votes", "relax"})
_WHAT = {"profile": "profile", "state": "power state"}


def may_be_quoted(document: Document, folders: Folders, top: str) -> bool:
    """Return whether messages may quote a file that is named by ``top``, or by a file that ``top`` extends."""
    if not os.path.realpath(document.path).endswith(SUFFIXES) or not folders.hold(document.path, top):
        return False
    keys = {at[0] for at in document.key_places if len(at) == 1}
    return not keys or not keys.isdisjoint(KEYS)


def is_sound(file: Document, kind: str) -> bool:
    """Return whether everything in a file belongs to a profile or power state; fields may be missing."""
    if file.problems or not isinstance(file.tree, dict) or KEYS.isdisjoint(file.tree):
        return False
    _, findings = structure(file.tree, FIELDS_OF[kind])
    return all(finding.rule == "KEY-2" for finding in findings)


def not_shown(named: str, kind: str, at: tuple[str, ...], said: str = "") -> Finding:
    """Return the finding for a file that may not be quoted, at the field that names it."""
    message = f"{shortened(named)!r}{said} is not a valid {_WHAT[kind]}; its content is not shown"
    return Finding("NAME-1", at, message, f"name a {_WHAT[kind]} in the folders in use")
