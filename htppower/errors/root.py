"""The root class of the errors, and the errors of files and of phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors.finding import Finding, bounded, printable

if TYPE_CHECKING:
    from collections.abc import Iterable


class HtpPowerError(Exception):
    """The root class of every error that htppower raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception.args holds the text of the error, not the arguments of its class, so pickle needs this.
        return _made_again, (type(self), self.args), vars(self)


def _made_again(kind: type[HtpPowerError], arguments: tuple[Any, ...]) -> HtpPowerError:
    """Return an error that was pickled in another process, before its attributes are set."""
    made = kind.__new__(kind)
    made.args = arguments
    return made


# The findings that make a file refused, as ``ProfileError.problems`` holds them.
Problem = Finding


class ProfileError(HtpPowerError, ValueError):
    """A profile that can't be read or is invalid.

    All problems of a file are reported at once.

    Attributes:
        problems: all problems; if one file has more than 100, the last one says how many are omitted.
        path, line, column, rule, hint: taken from the first problem.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = bounded(problems)
        first = self.problems[0]
        self.path = first.path
        self.line = first.line
        self.column = first.column
        self.rule = first.rule
        self.hint = first.hint
        super().__init__("\n".join(str(problem) for problem in self.problems))


class RuleBreach(ProfileError):  # noqa: N818 - reads as what it is
    """A well-formed profile that a rule of the votes refuses, on every platform or on this one."""


class VoteTestError(ProfileError):
    """A test that can't be run: its file, or a profile that it tests, can't be read or is invalid."""


class UnreadableFile(HtpPowerError, ValueError):  # noqa: N818 - the name states the fault
    """A file that can't be read.

    Attributes:
        path: the file.
        place: ``line`` or ``line:column`` in text, the path of keys in JSON; empty if it is the whole file.
        hint: what to do; may be empty.
    """

    def __init__(self, path: str, place: str, message: str, hint: str = "") -> None:
        self.path = path
        self.place = place
        self.hint = hint
        where = f"{path}:{place}" if place else path
        super().__init__(printable(f"{where}: {message}{f' ({hint})' if hint else ''}"))


class TraceError(UnreadableFile):
    """A trace file that can't be read or that has no inference.

    Attributes:
        path: the file.
        line: 1-based line, 0 for the file as a whole.
        hint: what to do; may be empty.
    """

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        self.line = line
        super().__init__(path, str(line) if line else "", message, hint)


class PhaseMisuse(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was ended that is not running, or begun while it is running. No phase has changed."""


class SessionClosed(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was begun, or a profile requested, on a closed session or controller."""
