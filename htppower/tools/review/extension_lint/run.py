"""Lint of one extension file.

JSON has no comments, so a file has its suppressions under a key at the top, which the vendor's parser ignores:
"htppower": [{"disable": "EXT-32", "until": "2027-03-01", "because": "a test of long polling"}]
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from htppower.errors import Finding, Place, ProfileError
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, NotRegular, read_regular_file
from htppower.tools.extensions.extension_file import WHOLE_FILE, Wrong, extension_file
from htppower.tools.extensions.json_parser import TOO_DEEP, Kind, Member, Node
from htppower.tools.extensions.json_text import has_statements, is_template, parse_json
from htppower.tools.extensions.key_checks import OURS
from htppower.tools.extensions.one_core import with_one_core, with_strays
from htppower.tools.extensions.refusals import refusals, refused, refused_text
from htppower.tools.review.extension_lint.chips import of_chip
from htppower.tools.review.extension_lint.harmful import harmful, mismatched, odd_items, unpolled
from htppower.tools.review.extension_lint.ignored import ignored, of_several_socs
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.suppressions import LINE_BREAK, Found, Lines, Linted, from_words
from htppower.tools.runtimes.other_kinds import other_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.platforms import Platform
    from htppower.tools.extensions.json_text import JsonText
    from htppower.tools.review.lint.suppressions import Suppression

_WORDS = ("disable", "until", "because")


def lint_extension_file(
    path: str,
    given: bytes | None = None,
    platform: Platform | None = None,
    prepared: str | None = None,
    *,
    linked: bool = False,
) -> Linted:
    """Lint a file, or the content ``given`` instead of it.

    Args:
        path: the file.
        given: the content to lint instead.
        platform: the platform that it is checked for.
        prepared: how the context that it runs was prepared, ``raw`` or ``memhandle``.
        linked: whether the path is a link that leads out of its folder. The file may be a secret, so nothing else is
            reported.
    """
    if linked:
        message, hint = "is a link that leads out of its folder", "name the file that it leads to"
        return _unread(path, "FILE-1", message, hint)
    try:
        data = read_regular_file(path) if given is None else given
    except (OSError, ValueError, NotRegular) as error:
        said = getattr(error, "strerror", None) or str(error)
        return _unread(path, "FILE-1", f"can't be read: {said}", "check the path")
    if len(data) > LARGEST_FILE_BYTES:
        return _unread(path, "FILE-2", "larger than 1 MiB", "name an extension file")
    text = parse_json(data, path)
    suppressions, wrong = suppressions_of(text)
    found = sorted(_findings(text, platform, prepared), key=lambda each: (each.line, each.column, each.rule))
    lines = Lines(path, tuple(re.split(LINE_BREAK, text.text)), ())
    return Linted(tuple(found), tuple(suppressions), tuple(wrong), lines)


def _unread(path: str, rule: str, message: str, hint: str) -> Linted:
    return Linted((Finding(rule, (), message, hint, place=Place(path, 1, 1)),), (), (), Lines(path, (), ()))


def _findings(text: JsonText, platform: Platform | None, prepared: str | None) -> Iterator[Finding]:
    """Yield the faults of a text. Ignored and harmful parts count only if the vendor's parser accepts the rest."""
    at_text = refused_text(text)
    if text.problem is not None and is_template(text.path) and has_statements(text.text):
        return
    if text.problem is not None:
        said = text.problem.message
        # The vendor's parser accepts deeper nesting than this one.
        said = said if said == TOO_DEEP else f"{said}: {WHOLE_FILE}"
        yield _finding("EXT-10", text.problem.place, said, text.problem.hint)
    if at_text is not None:
        offset, message, hint = at_text
        yield _finding("EXT-10", text.place(offset), f"{message}: {WHOLE_FILE}", hint)
    try:
        file = extension_file(text)
    except ProfileError:
        return
    kind = other_kind(file)
    wrong: list[Wrong] = [] if kind is not None and kind.name else refused(file)
    if kind is not None:
        name = f"this is {kind.name}" if kind.name else "the file is of another kind"
        said = f"no key at the top belongs to an extension file: {name}"
        wrong.append(Wrong("EXT-20", text.accepted().members[0], said, kind.hint))
        yield from _told(text, wrong)
        return
    starts = sorted(each.at.start for each in wrong)
    # A part that is refused is not reported as ignored, too.
    wrong += (each for each in ignored(file) if not _has_any(each, starts))
    unknown = {each.at.start for each in wrong if each.rule == "EXT-14"}
    # Devices or cores that are wrongly an object, instead of a list, do exist.
    unlisted = [
        each.at.start for each in wrong if each.rule == "EXT-11" and getattr(each.at, "kind", None) is Kind.OBJECT
    ]
    # The cores of a device vote together.
    read = file if starts else with_strays(file)
    together = file if starts else with_one_core(file)
    taken = not refusals(file)
    wrong += unpolled(together) if taken else ()
    for each in (*harmful(read), *of_chip(read, together, platform, taken=taken)):
        if each.rule != "EXT-31" or not (_has_key(each.at, unknown) or _holds(each.at, unlisted)):
            wrong.append(each)
    wrong += odd_items(read, together)
    wrong += mismatched(file, prepared)
    wrong += of_several_socs(file)
    yield from _told(text, wrong)


def _told(text: JsonText, wrong: list[Wrong]) -> Iterator[Finding]:
    """Yield each fault as a finding. If several of one rule are at the same place, yield the first."""
    told: set[tuple[str, int]] = set()
    for each in wrong:
        if (each.rule, each.at.start) not in told and not text.placeholder(each.at):
            told.add((each.rule, each.at.start))
            yield _finding(each.rule, text.place(each.at.start), each.message, each.hint)


def _has_any(wrong: Wrong, starts: list[int]) -> bool:
    """Return whether one of these sorted places is in the value of a key that is ignored."""
    if not isinstance(wrong.at, Member) or wrong.rule != "EXT-20":
        return False
    return bisect_left(starts, wrong.at.start) < bisect_left(starts, wrong.at.node.end)


def _holds(at: Node | Member, starts: list[int]) -> bool:
    """Return whether one of these places is in a value."""
    return isinstance(at, Node) and any(at.start <= start < at.end for start in starts)


def _has_key(core: Node | Member, unknown: set[int]) -> bool:
    """Return whether a core has an unknown key, which may be a misspelt perf_profile."""
    return isinstance(core, Node) and any(member.start in unknown for member in core.members)


def _finding(rule: str, place: Place | None, message: str, hint: str) -> Finding:
    return Finding(rule, (), message, hint, severity=CATALOGUE[rule].severity, place=place)


def suppressions_of(text: JsonText) -> tuple[list[Suppression], list[Found]]:
    """Return the suppressions of a file, and the findings about those that are not well-formed."""
    read: list[Suppression] = []
    wrong: list[Found] = []
    if text.root is None:
        return read, wrong
    for member in text.root.members:
        if member.key != OURS:
            continue
        for node in member.node.items if member.node.kind is Kind.LIST else (member.node,):
            said = {each.key: str(each.node.value) for each in node.members}
            words = " ".join(f"{word}={said[word]}" for word in _WORDS if word in said)
            made = from_words(text.place(node.start), f": {words}")
            if isinstance(made, Found):
                wrong.append(made)
            else:
                read.append(made)
    return read, wrong
