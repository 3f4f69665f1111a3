"""The messages that a client may send: one class for each verb. A message is a JSON object in one line."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

import attrs

from htppower.errors import Finding, printable, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.discovery import SUFFIXES
from htppower.profiles.field_limits import Refused, field
from htppower.profiles.typed_fields import read_fields

# No `from __future__ import annotations`: the types of the fields are read.

PROTOCOL = 1
# A hold with the longest value in each field, with every character escaped, has 5.5 KB.
LONGEST_LINE_BYTES = 8192
LONGEST_TEXT = 200
_MOST_CORES = 16
# JSON readers keep whole numbers up to this one exactly (RFC 8259, section 6).
LARGEST_NUMBER = 2**53 - 1
# A year.
LONGEST_US = 31_536_000_000_000
_CORE_LIMITS = (0, 2**32 - 1)

_LEASE = field("the number of the lease, from the answer to `hold`.", limits=(1, LARGEST_NUMBER))
_INFERENCE = field(
    "the number of the inference, chosen by the client; two that run in one lease differ.", limits=(0, LARGEST_NUMBER)
)
_PROFILE = field("the name of a profile that the service knows, never a path.", is_name=True)


@attrs.frozen
class Hello:
    """The first message of a connection."""

    SAYS: ClassVar[str] = "The first message: who the client is, and which protocol it speaks."

    protocol: int = field("the version of the protocol.", only=PROTOCOL)
    name: str = field("the name of the client's program, for the status and logs.", one_line=True)


@attrs.frozen
class Hold:
    """Open a lease."""

    SAYS: ClassVar[str] = "Opens a lease with a profile. It raises no votes: `begin` does."

    profile: str = _PROFILE
    reason: str = field("why the lease is needed, for the status and logs.", one_line=True)
    owner: str | None = field("the task that needs it; the client's name by default.", one_line=True, optional=True)
    deadline_us: int | None = field(
        "the lease ends by itself after this time, in microseconds.", limits=(1, LONGEST_US), optional=True
    )
    device_id: int = field("the device; 0 by default.", limits=_CORE_LIMITS, optional=True, default=0)
    core_ids: tuple[int, ...] = field("the cores to vote on; core 0 by default.", fewest=1, optional=True, default=(0,))


@attrs.frozen
class Begin:
    """Begin an inference."""

    SAYS: ClassVar[str] = "Begins an inference. The answer comes when the votes are in force."

    lease: int = _LEASE
    inference: int = _INFERENCE
    window_us: int | None = field(
        "the inference ends by itself after this time, in microseconds; another `begin` of it begins the time anew.",
        limits=(1, LONGEST_US),
        optional=True,
    )


@attrs.frozen
class End:
    """End an inference."""

    SAYS: ClassVar[str] = "Ends an inference; the votes come down after the sustain time of the profile."

    lease: int = _LEASE
    inference: int = _INFERENCE


@attrs.frozen
class Use:
    """Change the profile of a lease."""

    SAYS: ClassVar[str] = "Changes the profile of a lease: at once if its votes are up."

    lease: int = _LEASE
    profile: str = _PROFILE


@attrs.frozen
class Release:
    """End a lease."""

    SAYS: ClassVar[str] = "Ends a lease, with its inferences: its votes are lowered."

    lease: int = _LEASE


@attrs.frozen
class Status:
    """Ask for the leases."""

    SAYS: ClassVar[str] = "Asks for the client's own leases, and the sum of all others."


@attrs.frozen
class Watch:
    """Begin or end to get events."""

    SAYS: ClassVar[str] = "Begins or ends events about the client's own leases."

    events: bool = field("whether events are sent.")


VERBS: dict[str, type[Any]] = {
    "hello": Hello,
    "hold": Hold,
    "begin": Begin,
    "end": End,
    "use": Use,
    "release": Release,
    "status": Status,
    "watch": Watch,
}


class Wrong(Exception):  # noqa: N818 - becomes an answer, and never leaves the service
    """A message that the service refuses.

    Attributes:
        error: the kind of the error, in one word.
        message: what is wrong.
        hint: what to do.
        field: the field that is wrong, or nothing.
    """

    def __init__(self, error: str, message: str, hint: str, field: str = "") -> None:
        super().__init__(message)
        self.error, self.message, self.hint, self.field = error, message, hint, field

    def answer(self) -> dict[str, Any]:
        """Return the error as the fields of an answer."""
        said = {"ok": False, "error": self.error, "message": self.message, "hint": self.hint}
        return {**said, "field": self.field} if self.field else said


def parse(line: bytes) -> tuple[dict[str, Any], int | None]:
    """Return a message as an object of JSON, and its id; None if it wants no answer.

    Raises:
        Wrong: the line is not an object of JSON, or its id is not a whole number.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise Wrong("malformed", f"{shown(line)} is not JSON", "send one object of JSON in each line") from None
    if not isinstance(message, dict):
        raise Wrong("malformed", f"{shown(line)} is not an object of JSON", 'send {"do": ..., "id": ...}')
    number = message.pop("id", None)
    if number is not None and (type(number) is not int or not 0 <= number <= LARGEST_NUMBER):
        raise Wrong("malformed", "the id is not a whole number from 0", "leave it out if no answer is wanted", "id")
    return message, number


def read(message: dict[str, Any]) -> Any:
    """Return the message as the class of its verb.

    Raises:
        Wrong: the verb is unknown, or a field is missing, unknown or wrong.
    """
    verb = message.pop("do", None)
    kind = VERBS.get(verb) if isinstance(verb, str) else None
    if kind is None:
        hint = did_you_mean(verb, VERBS) if isinstance(verb, str) else f"one of {', '.join(VERBS)}"
        raise Wrong("unknown verb", f"do is {shortened(repr(verb))}", hint, "do")
    try:
        asked = read_fields(message, kind)
    except Refused as refused:
        raise _wrong(refused.findings[0]) from None
    check = _CHECKS.get(kind)
    if check is not None:
        check(asked)
    return asked


def shown(line: bytes) -> str:
    """Return the begin of a line, as a message may show it."""
    return shortened(repr(printable(line[:LONGEST_TEXT].decode("utf-8", "replace"))))


def _wrong(finding: Finding) -> Wrong:
    name = ".".join(finding.at)
    return Wrong("wrong field", finding.message.replace("\0", ""), finding.hint, name)


def _check_hello(hello: Hello) -> None:
    _check_texts(name=hello.name)


def _check_hold(hold: Hold) -> None:
    _check_name(hold.profile)
    _check_texts(reason=hold.reason, owner="-" if hold.owner is None else hold.owner)
    cores = hold.core_ids
    once = len(set(cores)) == len(cores) <= _MOST_CORES
    if not once or not all(_CORE_LIMITS[0] <= core <= _CORE_LIMITS[1] for core in cores):
        hint = f"up to {_MOST_CORES} cores from 0, none of them twice"
        raise Wrong("wrong field", f"core_ids is {shortened(repr(list(cores)))}", hint, "core_ids")


def _check_use(use: Use) -> None:
    _check_name(use.profile)


def _check_name(profile: str) -> None:
    # A name with such a suffix would be a path.
    if profile.endswith(SUFFIXES) or len(profile) > LONGEST_TEXT:
        raise Wrong("wrong field", f"profile is {shortened(repr(profile))}", "the name of a profile", "profile")


def _check_texts(**texts: str) -> None:
    for name, text in texts.items():
        if not 0 < len(text) <= LONGEST_TEXT:
            raise Wrong("wrong field", f"{name} has {len(text)} characters", f"1 to {LONGEST_TEXT}", name)


_CHECKS: dict[type[Any], Callable[[Any], None]] = {Hello: _check_hello, Hold: _check_hold, Use: _check_use}
