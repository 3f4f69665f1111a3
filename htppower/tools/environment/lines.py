"""Variables as the lines of a shell, PowerShell, a Dockerfile, a unit of systemd or an env file, quoted for each."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_EMPTY = "''"


class NotOnALine(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """A value that can't be written on a line: it has a character that is not printable, or is not UTF-8."""


@attrs.frozen
class Form:
    """A form of lines.

    Attributes:
        line: returns the line of a variable and its value.
        head: the line before the others; may be empty.
        starts_anew: whether the reader starts without the variables of this process.
    """

    line: Callable[[str, str], str]
    head: str = ""
    starts_anew: bool = False


def lines_of(values: Mapping[str, str], form: Form) -> Iterator[str]:
    """Yield the lines that set these variables.

    Raises:
        NotOnALine: a value can't be written on a line.
    """
    for name, value in values.items():
        # A line feed would end the line, and not every reader takes an escape for such a character.
        if odd := [character for character in value if not character.isprintable()]:
            raise NotOnALine(f"{name}: {value!r} has {odd[0]!r}, which can't be on a line: rename the folder")
    if form.head:
        yield form.head
    yield from (form.line(name, value) for name, value in values.items())


def sh_line(name: str, value: str) -> str:
    """Return the line of a POSIX shell."""
    return f"export {name}={shlex.quote(value)}"


def powershell_line(name: str, value: str) -> str:
    """Return the line of PowerShell, in ASCII: it decodes the output of a command by another code page."""
    parts = re.findall(r"[\x00-\x7f]+|[^\x00-\x7f]", value) or [""]
    texts = ["'{}'".format(part.replace("'", "''")) if part.isascii() else _in_ascii(part) for part in parts]
    # The first operand must be a text, so that + joins texts.
    return f"$env:{name} = {' + '.join(texts if parts[0].isascii() else (_EMPTY, *texts))}"


def _in_ascii(character: str) -> str:
    units = character.encode("utf-16-be")
    return " + ".join(f"[char]0x{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


def dockerfile_line(name: str, value: str) -> str:
    """Return the line of a Dockerfile whose escape character is the backslash."""
    quoted = re.sub(r'(["$\\])', r"\\\1", value)
    return f'ENV {name}="{quoted}"'


def systemd_line(name: str, value: str) -> str:
    """Return the line of a unit. ``$`` means nothing in ``Environment=``."""
    quoted = re.sub(r'(["\\])', r"\\\1", value).replace("%", "%%")
    return f'Environment="{name}={quoted}"'


def env_file_line(name: str, value: str) -> str:
    """Return the line of an environment file, in which Docker, Compose and systemd read the same.

    Raises:
        NotOnALine: the value has a character that not all three read as it is.
    """
    if odd := re.search(r"[\s\"'#$\\]", value):
        raise NotOnALine(f"{name}: {value!r} has {odd[0]!r}, which can't be in an environment file: rename the folder")
    return f"{name}={value}"


FORMS = {
    "sh": Form(sh_line),
    "powershell": Form(powershell_line),
    "dockerfile": Form(dockerfile_line, starts_anew=True),
    "systemd": Form(systemd_line, head="[Service]", starts_anew=True),
    "env-file": Form(env_file_line, starts_anew=True),
}
