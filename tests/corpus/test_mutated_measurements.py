"""Profilers' files that are cut, mixed up or full of nonsense: advice or one clear error, never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.measurements import FORMS, Recipe, ai_hub_json, genie_json, made, viewer_text
from support.runtime_logs import (
    executorch_log,
    hexagon_log,
    litert_log,
    llama_times,
    measured,
    observer_line,
    qhas_json,
)

from htppower.errors import HtpPowerError
from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice import forms
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.review.advice.run import advise
from htppower.tools.review.compare import forms as comparison_forms
from htppower.tools.review.compare.comparison import compare

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.review.advice.measurement import Measurement

INFERENCES = made([Recipe(way=900.0), Recipe(power=9000.0, waits=9000.0), Recipe(yields=2.0, waits=700.0)] * 4)
TRACE: dict[str, Any] = {
    "traceEvents": [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "g Runtraces"}},
        {"ph": "X", "name": "x", "pid": 0, "tid": 1, "ts": 0, "dur": 1000},
    ]
}
WHOLE = {
    **{name: write(INFERENCES) for name, write in FORMS.items()},
    "viewer.txt": viewer_text(INFERENCES),
    "ai_hub.json": ai_hub_json([100.0 + place for place in range(20)]),
    "genie.json": genie_json([(1000 + 10**6 * place, 90_000, 4) for place in range(6)]),
    "trace.json": json.dumps(TRACE),
    "qhas.json": qhas_json([(1000.0 + place, 1.4e6) for place in range(8)]),
    "litert.log": litert_log([100.0 + place for place in range(20)], outside=3),
    "executorch.log": executorch_log([100.0 + place for place in range(20)]) + "\n" + observer_line(200, 9, 60, 3000),
    "hexagon.log": hexagon_log([120.0 + place for place in range(9)]) + llama_times((1000.0, 40), (2000.0, 50)),
}
OTHER = measured(INFERENCES)
PIECES = (
    "",
    ",",
    "\n",
    '"',
    "0",
    "-1",
    "1e9",
    "nan",
    "1e999",
    "US",
    "ms",
    "{",
    "]",
    "null",
    "[]",
    "{}",
    "\0",
    "\u202e",
    "é",
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the files, one after the other."""
    return tmp_path_factory.mktemp("mutated") / "measured"


def tried(path: Path, content: bytes) -> bool:
    """Return whether a file is read and gives the same output twice in every form; else check its one-line error."""
    path.write_bytes(content)
    said = ""
    found: list[Measurement] = []
    try:
        found = read_measurements(str(path))
    except UnreadableFile as error:
        said = str(error)
    if said:
        assert said.startswith(str(path))
        assert "\n" not in said
        return False
    assert found
    assert all(each.count for each in found)
    report = advise(found)
    told_in = {name: forms.render(report, name) for name in forms.FORMS}
    assert json.loads(told_in["json"]) == json.loads(forms.render(advise(found), "json"))
    for told in report.told:
        assert 0 <= told.advice.share <= 1
        assert told.advice.gain_us >= 0
        assert told.advice.evidence
        assert told.advice.do
    for one, other in ((found[0], OTHER), (OTHER, found[0]), (found[0], found[-1])):
        compared(one, other)
    return True


def compared(one: Measurement, other: Measurement) -> None:
    """Check that two measurements are compared in every form with numbers that make sense, or refused."""
    try:
        comparison = compare(one, other)
    except HtpPowerError:
        return
    for name in comparison_forms.FORMS:
        assert comparison_forms.render(comparison, name)
    document = json.loads(comparison_forms.render(comparison, "json"), parse_constant=pytest.fail)
    assert document["ratio"] > 0
    parts = sum(part["difference_us"] for part in document["parts"])
    if document["parts"]:
        whole_us = document["whole"]["difference_us"]
        assert parts + document["left_over_us"] == pytest.approx(whole_us, rel=1e-6, abs=0.1)


@examples(45)
@given(st.sampled_from(sorted(WHOLE)), st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.1), st.sampled_from(PIECES))))
def test_pieces_are_replaced(path: Path, name: str, edits: list[tuple[float, float, str]]) -> None:
    """Any piece of a file may be replaced by another."""
    text = WHOLE[name]
    for place, length, piece in edits[:5]:
        start = int(place * len(text))
        text = text[:start] + piece + text[start + int(length * len(text)) :]
    tried(path, text.encode())


@examples(25)
@given(st.sampled_from(sorted(WHOLE)), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=4))
def test_bytes_are_replaced(path: Path, name: str, edits: list[tuple[float, int]]) -> None:
    """Any bytes may be replaced."""
    content = bytearray(WHOLE[name].encode())
    for place, byte in edits:
        content[min(int(place * len(content)), len(content) - 1)] = byte
    tried(path, bytes(content))


@examples(30)
@given(
    st.sampled_from(["qairt.json", "ai_hub.json", "genie.json", "trace.json", "qhas.json"]),
    st.integers(0, 10**6),
    VALUES,
)
def test_values_of_json_are_replaced(path: Path, name: str, which: int, value: object) -> None:
    """Any value may be replaced."""
    tree = json.loads(WHOLE[name])
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        keys = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            collect(node[key])

    collect(tree)
    node, key = places[which % len(places)]
    node[key] = value
    tried(path, json.dumps(tree).encode())


@examples(15)
@given(st.sampled_from(sorted(WHOLE)), st.randoms(use_true_random=False))
def test_lines_are_mixed_up(path: Path, name: str, noise: Any) -> None:
    """Lines may be in another order, repeated, or missing."""
    lines = WHOLE[name].splitlines()
    tried(path, "\n".join(noise.choices(lines, k=len(lines))).encode())


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes(path: Path, content: bytes) -> None:
    """A random file is not taken for a profiler's, and breaks no reader."""
    assert not tried(path, content)


@pytest.mark.parametrize("name", WHOLE)
def test_the_files_themselves_are_read(path: Path, name: str) -> None:
    """Without a mutation, each file is read."""
    assert tried(path, WHOLE[name].encode())
