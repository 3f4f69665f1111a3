"""The JSON Schemas and the loader agree on raw trees, as far as a schema can express a rule."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from support.checkout import ROOT
from support.examples import examples
from support.shipped import shipped_folder

from htppower import ProfileError, load_profile
from htppower.hosts.service.limits import examine_service_file
from htppower.profiles.cache import ProfileCache
from htppower.profiles.discovery import Folders
from htppower.profiles.loading import examine_power_state
from htppower.profiles.strict_yaml import Document, read_document
from htppower.tools.review.json_schema import FILES, json_schema
from htppower.tools.review.vote_tests.files import load_test
from htppower.tools.tuning.models.file import load_device_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import Problem

SHIPPED = shipped_folder()
VALIDATORS = {name: Draft7Validator(json_schema(name)) for name in FILES}
SOURCES = {
    "profile": SHIPPED / "burst.yaml",
    "state": SHIPPED / "states" / "relaxed.yaml",
    "test": SHIPPED / "tests" / "sustained_high_performance.yaml",
    "device": SHIPPED / "devices" / "snapdragon_x_elite.yaml",
    "service": ROOT / "docs" / "examples" / "service" / "camera_board.yaml",
}
TREES = {kind: read_document(str(path), kind).tree for kind, path in SOURCES.items()}
# JSON would use an exponent, which not every YAML parser reads as a number.
TREES["device"]["call_j"]["range"] = [0.0001, 0.002]


def _accepted(document: Document) -> None:
    if document.problems:
        raise ProfileError(document.problems)


LOAD: dict[str, Any] = {
    "profile": load_profile,
    "state": lambda file: examine_power_state(file, Folders.of(())).accepted(),
    "test": load_test,
    "device": load_device_model,
    "service": lambda file: _accepted(examine_service_file(str(file), ProfileCache())),
}

# Rules that a schema can check, and their messages that compare two values, which a schema can't check.
SEEN = {"KEY-1", "KEY-2", "TYPE-1", "VALUE-1", "DCVS-1", "RPC-1", "TMR-1"}
COMPARED = (
    *("the step begins", "the expectation at", "the sequence is over", "another case is called"),
    *(
        "does not contain the value",
        "speeds has",
        "wakes has",
        "the speed of burst",
        "speed.value is 0",
        "that was not measured",
        "has two entries",
        "below_c is",
    ),
)
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 7, 99, 10_000, 1_000_001, 2**32, 24 * 3_600_000_001),
    *("unset", "default", "background", "burst", "relaxed", "NOM", "SM8650", "DESTROYED", "12", "", " ", "one line"),
    *("a\u00a0b", "a\u200bb", "a\u202eb", "a\u3000b", "a\tb", "a\nb", "é → 漢字", "no name", "-x"),
    *([], ["RPC-4"], ["RPC-4", "RPC-4"], ["DCVS_V3"], {}, {"core": "NOM"}, {"soc": "SM8650"}, {"arch": "V75"}),
    {"min": "SVS", "target": "NOM", "max": "NOM"},
    {"min": "SVS", "target": "NOM", "max": "NOM", "perf_mode": "HIGH"},
    {"inference_us": 5},
]


def places(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys and numbers that lead to every value of a tree."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield (*at, key)
        yield from places(value, (*at, key))


def change(tree: Any, data: st.DataObject) -> None:
    """Replace, remove or add one value of a tree."""
    at = data.draw(st.sampled_from(sorted(places(tree), key=str)))
    for key in at[:-1]:
        tree = tree[key]
    what = data.draw(st.sampled_from(["replace", "replace", "replace", "take out", "add"]))
    if what == "take out":
        del tree[at[-1]]
    elif what == "add" and isinstance(tree, list):
        tree.append(copy.deepcopy(tree[at[-1]]))
    elif what == "add":
        tree[data.draw(st.sampled_from(["other", "votes", "at_us", "hmx_v2", "use", "os"]))] = tree[at[-1]]
    else:
        tree[at[-1]] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))


def problems_of(kind: str, tree: Any) -> tuple[Problem, ...]:
    """Return the loader's problems with a tree."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mine.yaml")
        file.write_text(json.dumps(tree), encoding="utf-8")
        try:
            LOAD[kind](file)
        except ProfileError as error:
            return error.problems
    return ()


@pytest.mark.parametrize("kind", SOURCES)
@examples(45)
@given(data=st.data())
def test_schema_and_loader_agree(kind: str, data: st.DataObject) -> None:
    """If a tree loads, the schema accepts it; if the loader refuses it by a rule of the schema, so does the schema."""
    tree = copy.deepcopy(json.loads(json.dumps(TREES[kind])))
    for _ in range(data.draw(st.integers(1, 2))):
        change(tree, data)
    problems = problems_of(kind, tree)
    accepted = VALIDATORS[kind].is_valid(tree)
    if not problems:
        assert [error.message for error in VALIDATORS[kind].iter_errors(tree)] == []
    seen = [each for each in problems if each.rule in SEEN and not any(said in each.message for said in COMPARED)]
    assert not (accepted and seen), seen
