"""``htppower explain`` of the keys of extension files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from htppower.tools.extensions.keys import KEYS, Section
from htppower.tools.review.explain.extension_keys import key_subjects

if TYPE_CHECKING:
    from support.command import Command


_SECTIONS = (Section.GRAPH, Section.DEVICE, Section.CORE, Section.CONTEXT, Section.GROUP_CONTEXT, Section.MEMORY)


@pytest.mark.parametrize("place", [key.place for key in KEYS.values() if key.section in _SECTIONS])
def test_every_key_is_explained(command: Command, place: str) -> None:
    """Each key of the inner file has its place, type, default, version, and the effect of a wrong value."""
    (told,) = json.loads(command.output("explain", place, "--format", "json"))["keys"]
    assert told["id"] == place
    assert {"takes", "left out", "since", "when wrong", "votes", "source"} <= set(told)


def test_a_key_of_several_places_is_explained_in_each(command: Command) -> None:
    """core_id is in a device and in a core, and both are explained."""
    told = json.loads(command.output("explain", "core_id", "--format", "json"))["keys"]
    assert [each["id"] for each in told] == ["devices[].core_id", "devices[].cores[].core_id"]


def test_shared_buffers_are_told_by_preparation_and_run(command: Command) -> None:
    """Each of the four ways says where memory is allocated and which data is copied."""
    (told,) = json.loads(command.output("explain", "shared_buffer", "--format", "json"))["keys"]
    assert {"raw, raw", "raw, memhandle", "memhandle, raw"} <= set(told)
    assert told["memhandle, memhandle"] == "allocated by the backend: never; copied each time: nothing"


@pytest.mark.parametrize(("key", "first"), [("shared_buffer", "raw, raw"), ("graphs[].dynamic_partitioning", "takes")])
def test_long_labels_stand_in_a_column(command: Command, key: str, first: str) -> None:
    """Every line fits in 80 columns, and every text begins in the same column."""
    lines = command.output("explain", key).splitlines()
    assert max(map(len, lines)) <= 80
    facts = lines[next(place for place, line in enumerate(lines) if line.startswith(f"{first} ")) :]
    texts = [re.search(r"(^|  +)(?=\S)(?!.*  )", line) for line in facts]
    assert len({text.end() for text in texts if text is not None}) == 1


def test_a_key_that_votes_says_who_reads_it() -> None:
    """Some runtimes never read the file; a key without votes has no such line."""
    (core,) = key_subjects("devices[].cores[].perf_profile")
    assert "never by ONNX Runtime, ExecuTorch or LiteRT" in dict(core.facts)["read by"]
    (other,) = key_subjects("context.group_id")
    assert "read by" not in dict(other.facts)
