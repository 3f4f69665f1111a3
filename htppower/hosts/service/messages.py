"""The messages that a client may send: one class for each verb. A message is a JSON object in one line."""

import json
from typing import Any, ClassVar

import attrs

from htppower.errors import Finding, printable, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.field_limits import Refused, field
from htppower.profiles.typed_fields import read_fields

# No `from __future__ import annotations`: the types of the fields are read.

PROTOCOL = 1
# A hold with the longest value in each field, with every character escaped, has 5.5 KB.
LONGEST_LINE_BYTES = 8192
LONGEST_TEXT = 200
_MOST_CORES = _MOST_ITEMS = 16
_LONGEST_KEY = 40
# JSON readers keep whole numbers up to this one exactly (RFC 8259, section 6).
LARGEST_NUMBER = 2**53 - 1
# A year.
LONGEST_US = 31_536_000_000_000
_CORE_LIMITS = (0, 2**32 - 1)

_LEASE = field("the number of the lease, from the answer to `hold`.", limits=(1, LARGEST_NUMBER))
_INFERENCE = field(
    "the number of the inference, chosen by the client; two that run in one lease differ.", limits=(0, LARGEST_NUMBER)
)
_PROFILE = field("the name of a profile that the service knows, never a path.", is_name=True, most=LONGEST_TEXT)


@attrs.frozen
class Hello:
    """The first message of a connection."""

    SAYS: ClassVar[str] = "The first message: who the client is, and which protocol it speaks."

    protocol: int = field("the version of the protocol.", only=PROTOCOL)
    name: str = field(
        "the name of the client's program, for the status and logs.", one_line=True, fewest=1, most=LONGEST_TEXT
    )


@attrs.frozen
class Hold:
    """Open a lease."""

    SAYS: ClassVar[str] = "Opens a lease with a profile. It raises no votes: `begin` does."

    profile: str = _PROFILE
    reason: str = field("why the lease is needed, for the status and logs.", one_line=True, fewest=1, most=LONGEST_TEXT)
    owner: str | None = field(
        "the task that needs it; the client's name by default.",
        one_line=True,
        fewest=1,
        most=LONGEST_TEXT,
        optional=True,
    )
    deadline_us: int | None = field(
        "the lease ends by itself after this time, in microseconds.", limits=(1, LONGEST_US), optional=True
    )
    device_id: int = field("the device; 0 by default.", limits=_CORE_LIMITS, optional=True, default=0)
    core_ids: tuple[int, ...] = field(
        "the cores to vote on; core 0 by default.",
        limits=_CORE_LIMITS,
        fewest=1,
        most=_MOST_CORES,
        each_once=True,
        optional=True,
        default=(0,),
    )


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

    SAYS: ClassVar[str] = "Asks for the client's own leases, and the sums over all."


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
        error: the kind of the error, in words that stay the same.
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
        # JSON can spell halves of characters, which no output could print.
        if b"\\u" in line or not line.isascii():
            json.dumps(message, ensure_ascii=False).encode()
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
    known = attrs.fields_dict(kind)
    # Similar names of very many keys, or very long ones, would take long to find.
    unknown = next((name for name in message if name not in known), "")
    if unknown:
        hint = did_you_mean(unknown, known) if len(unknown) < _LONGEST_KEY else f"one of {', '.join(known)}"
        raise Wrong("wrong field", f"unknown field {shortened(repr(unknown))}", hint, shortened(unknown))
    for name, value in message.items():
        if isinstance(value, (list, dict)) and len(value) > _MOST_ITEMS:
            raise Wrong("wrong field", f"{name} has {len(value)} items", f"up to {_MOST_ITEMS}", name)
    try:
        return read_fields(message, kind)
    except Refused as refused:
        raise _wrong(refused.findings[0]) from None


def shown(line: bytes) -> str:
    """Return the begin of a line, as a message may show it."""
    return shortened(repr(printable(line[:LONGEST_TEXT].decode("utf-8", "replace"))))


def _wrong(finding: Finding) -> Wrong:
    name = ".".join(finding.at)
    return Wrong("wrong field", finding.message.replace("\0", ""), finding.hint, name)
