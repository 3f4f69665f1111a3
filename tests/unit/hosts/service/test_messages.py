"""The messages of a client that are accepted, and those that are refused."""

from __future__ import annotations

import json

import pytest
from support.schemas import VALIDATORS

from htppower.hosts.service.messages import LONGEST_LINE_BYTES, VERBS, Begin, Hello, Hold, Wrong, parse, read

HOLD = {"do": "hold", "profile": "burst", "reason": "preview"}


def test_a_message_is_read_as_the_class_of_its_verb() -> None:
    """Fields that are left out have their defaults, and an id is apart from the message."""
    message, number = parse(json.dumps({"id": 7, **HOLD}).encode())
    assert number == 7
    assert read(message) == Hold("burst", "preview")
    assert read({"do": "hello", "protocol": 1, "name": "camera"}) == Hello(1, "camera")
    assert read({"do": "begin", "lease": 1, "inference": 0, "window_us": 5}) == Begin(1, 0, 5)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 4000, "not JSON"),
        (b"9" * 4000, "not"),
        (rb'{"do": "\ud800"}', "not JSON"),
        (b'{"do": "\xed\xa0\x80"}', "not JSON"),
        (b"[]", "not an object"),
        (b'"hello"', "not an object"),
        (b'{"id": "7"}', "not a whole number"),
        (b'{"id": true}', "not a whole number"),
        (b'{"id": -1}', "not a whole number"),
        (b'{"id": 1e300}', "not a whole number"),
    ],
)
def test_a_line_that_is_no_message_is_refused(line: bytes, said: str) -> None:
    """A line that is not an object of JSON, or has a wrong id, is refused with what to send."""
    with pytest.raises(Wrong) as caught:
        parse(line)
    assert caught.value.error == "malformed"
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"do": "hold", "profile": "/etc/passwd", "reason": "r"}, "profile"),
        ({**HOLD, "core_ids": ["0"] * 2000}, "core_ids"),
        ({**HOLD, **{f"key{number}": 1 for number in range(500)}}, "key0"),
        ({"do": "hold", "profile": "..", "reason": "r"}, "profile"),
        ({"do": "hold", "profile": "x" * 201, "reason": "r"}, "profile"),
        ({**HOLD, "reason": ""}, "reason"),
        ({**HOLD, "reason": "x" * 201}, "reason"),
        ({**HOLD, "reason": "\x1b[31m"}, "reason"),
        ({**HOLD, "owner": ""}, "owner"),
        ({**HOLD, "deadline_us": 0}, "deadline_us"),
        ({**HOLD, "deadline_us": True}, "deadline_us"),
        ({**HOLD, "device_id": -1}, "device_id"),
        ({**HOLD, "core_ids": []}, "core_ids"),
        ({**HOLD, "core_ids": [0, 0]}, "core_ids"),
        ({**HOLD, "core_ids": [-1]}, "core_ids"),
        ({**HOLD, "core_ids": list(range(17))}, "core_ids"),
        ({**HOLD, "core_ids": ["0"]}, "core_ids"),
        ({**HOLD, "path": "/x"}, "path"),
        ({"do": "begin", "lease": 0, "inference": 1}, "lease"),
        ({"do": "begin", "lease": 1, "inference": 2**53}, "inference"),
        ({"do": "begin", "lease": 1, "inference": None}, "inference"),
        ({"do": "begin", "lease": 1, "inference": 1.5}, "inference"),
        ({"do": "hello", "protocol": 2, "name": "x"}, "protocol"),
        ({"do": "watch", "events": 1}, "events"),
    ],
)
def test_a_wrong_field_is_refused_by_name(message: dict[str, object], field: str) -> None:
    """A value of a wrong type or out of range, an unknown field, and a path as a profile are refused."""
    with pytest.raises(Wrong) as caught:
        read(message)
    assert caught.value.error == "wrong field"
    assert field in (caught.value.field.partition(".")[0] or caught.value.message)


def test_a_missing_field_is_named() -> None:
    """The message says which field is missing."""
    with pytest.raises(Wrong, match="reason is missing"):
        read({"do": "hold", "profile": "burst"})


@pytest.mark.parametrize("verb", ["holt", None, 7, ["hold"], ""])
def test_an_unknown_verb_is_refused_with_the_known_ones(verb: object) -> None:
    """A misspelt verb gets the nearest one as a hint."""
    with pytest.raises(Wrong) as caught:
        read({"do": verb})
    assert caught.value.error == "unknown verb"
    assert "hold" in caught.value.hint


@pytest.mark.parametrize(
    "message",
    [
        HOLD,
        {**HOLD, "id": 3, "owner": "camera", "deadline_us": 5, "device_id": 1, "core_ids": [0, 1]},
        {"do": "hello", "protocol": 1, "name": "camera"},
        {"do": "begin", "lease": 1, "inference": 0},
        {"do": "end", "lease": 1, "inference": 0},
        {"do": "use", "lease": 1, "profile": "burst"},
        {"do": "release", "lease": 1},
        {"do": "status"},
        {"do": "watch", "events": False},
    ],
)
def test_the_schema_accepts_what_the_service_reads(message: dict[str, object]) -> None:
    """Both accept the message, and both refuse it with a further field, without a field, or as another verb."""
    validator = VALIDATORS["message"]
    assert validator.is_valid(message)
    assert validator.is_valid({**message, "id": None})
    read(parse(json.dumps(message).encode())[0])
    for wrong in (
        {**message, "path": "/x"},
        {**message, "do": "stop"},
        {"do": "hold", "reason": "r"},
        {**HOLD, "reason": ""},
        {**HOLD, "reason": "x" * 201},
        {**HOLD, "profile": "x" * 201},
        {**HOLD, "core_ids": [0, 0]},
        {**HOLD, "core_ids": [-1]},
        {**HOLD, "core_ids": list(range(17))},
        {**HOLD, "id": 2**60},
    ):
        assert not validator.is_valid(wrong)
        with pytest.raises(Wrong):
            read(parse(json.dumps(wrong).encode())[0])


def test_every_verb_says_what_it_does() -> None:
    """Each class has a sentence for the page and the schema."""
    assert all(kind.SAYS.endswith(".") for kind in VERBS.values())


def test_the_longest_hold_fits_into_a_line() -> None:
    """A hold with the longest text in each field, escaped, is no longer than a line may be."""
    text = "\N{GRINNING FACE}" * 200
    longest = {
        "do": "hold",
        "id": 2**53 - 1,
        "profile": "p" * 200,
        "reason": text,
        "owner": text,
        "deadline_us": 10**13,
        "device_id": 2**32 - 1,
        "core_ids": [2**32 - 1 - core for core in range(16)],
    }
    line = json.dumps(longest).encode()
    read(parse(line)[0])
    assert 5000 < len(line) <= LONGEST_LINE_BYTES
