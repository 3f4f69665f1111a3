"""Reads the expected findings from the first comment of a malformed file.

The comment is at the top of the file, with a line for each fact:

    # expect: 7:23 DCVS-1, parts/list.yaml:1:1 YAML-1
    # hint: 10 to 65535
    # no hint: unset
    # says: 'relaxd'
    # schema accepts: the order of corners
    # lint: states/sleep-latency-9.yaml

``expect`` has the line, column and rule of each problem, in order, and the path if the problem is in another file. The
other lines are optional: see `Expectation`.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from pathlib import Path

Found = tuple[str, int, int, str]


@attrs.frozen
class Expectation:
    """The expected findings of a file.

    Attributes:
        found: path, line, column and rule of every problem, in order.
        hint: a text that the first problem's hint contains.
        no_hint: a text that this hint does not contain.
        says: a text that the message of the first problem contains.
        schema_accepts: why a JSON Schema can't refuse the file; empty if it does.
        lint: another malformed file, if lint reports the problems of that file instead.
    """

    found: list[Found]
    hint: str = ""
    no_hint: str = ""
    says: str = ""
    schema_accepts: str = ""
    lint: str = ""


def _first_comment(file: Path) -> list[str]:
    """Return the lines of the comment at the top, in any encoding."""
    data = file.read_bytes()
    wide = data.startswith(codecs.BOM_UTF16_LE)
    text = data.decode("utf-16") if wide else data.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    comment = re.match(r"(?:# .*\n)*", text)
    assert comment is not None
    return [line.removeprefix("# ") for line in comment.group().splitlines()]


def expectation(file: Path) -> Expectation:
    """Return the expectation in a file's first comment.

    Raises:
        TypeError: a line says what is not known here, or none says what to expect.
    """
    facts = dict(line.split(": ", 1) for line in _first_comment(file))
    found = []
    for place, rule in (each.split(" ") for each in facts.pop("expect", "").split(", ")):
        *path, line, column = place.split(":")
        found.append((str(file.parent.joinpath(*(path or [file.name]))), int(line), int(column), rule))
    return Expectation(found, **{name.replace(" ", "_"): said for name, said in facts.items()})
