"""The status as a JSON document: which documents a reader accepts, and which it refuses."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench

from htppower.control.status.document import problem, status_document
from htppower.votes.corners import ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Iterator

# The fields that earlier versions did not write.
LATER = {
    "calls_under_way",
    "inferences",
    "link",
    "wait_bounds_us",
    "sessions.0.inferences",
    "sessions.0.cold_starts",
    "sessions.0.learnt",
    "sessions.0.learnt_further",
    "sessions.0.closing",
}
# Objects whose keys are data, not field names.
FREE = ("backend.versions.", ".fields.", ".symbols.", ".time_in_state_us.")


@pytest.fixture
def document() -> dict[str, Any]:
    """Return a document with a session that is up, a hold, a cap, a ticket and a failed call."""
    bench = Bench.make()
    session = bench.controller.session("balanced", owner="camera")
    session.hold("burst", reason="preview")
    bench.controller.cap("high_performance", reason="hot")
    bench.simulated.fail_next(1009)
    bench.infer(session)
    bench.time.advance_us(1_000_000)
    ticket = session.begin()
    made: dict[str, Any] = json.loads(json.dumps(status_document(bench.controller.status(), closed=False)))
    del ticket
    bench.controller.close()
    return made


def places(node: Any, at: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield each object or list of a document, with a key and the dotted path."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in list(items):
        yield node, key, f"{at}{key}"
        yield from places(inner, f"{at}{key}.")


def test_a_document_that_was_written_is_accepted(document: dict[str, Any]) -> None:
    """Every part of a written document is valid, also with a field that a later version may add."""
    assert document["sessions"][0]["tickets"]
    assert document["sessions"][0]["last_error"]
    assert problem(document) is None
    document["sessions"][0]["of a later version"] = [1]
    assert problem(document) is None


def test_only_later_fields_may_be_missing(document: dict[str, Any]) -> None:
    """A missing field that every version wrote is an error with its name; a file of an earlier version is accepted."""
    for node, key, at in places(document):
        if isinstance(node, dict) and not any(free in f"{at}." for free in FREE if not f"{at}.".endswith(free)):
            held = node.pop(key)
            found = problem(document)
            assert (found is None) is (at in LATER), at
            assert found is None or found.endswith(f"{key} is missing")
            node[key] = held


def test_a_field_of_another_kind_is_named(document: dict[str, Any]) -> None:
    """A field with a fraction, or with a number too large for a clock or count, is an error with its name."""
    whole = copy.deepcopy(document)
    for wrong in (0.5, 1 << 63):
        for node, key, at in places(document):
            held, node[key] = node[key], wrong
            found = problem(document)
            assert found, at
            assert " is not a" in found
            node[key] = held
    assert document == whole


def test_corners_have_the_vendors_names(document: dict[str, Any]) -> None:
    """Core and bus clocks have the names of voltage corners; the HMX clock has those of expanded corners."""
    (core,) = document["cores"]
    assert {core["core"]["target"], core["bus"]["target"]} <= set(VoltageCorner.__members__)
    assert core["hmx"]["target"] in ExpandedCorner.__members__
    assert list(core["core"]) == ["min", "target", "max"]
