"""Extension files: their objects by section, and the table of keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from htppower.errors import ProfileError
from htppower.tools import extensions
from htppower.tools.extensions.extension_file import FileKind, parse_extension_file
from htppower.tools.extensions.keys import KEYS, Section, Type, known

INNER = """{
  "graphs": [{"graph_names": ["g"], "hmx_op_bounding": {"hmx_frequency": 1, "dsp_core_frequency": 2}}, 7],
  "devices": [
    {"soc_model": 69, "cores": [{"perf_profile": "burst"}, {"core_id": 1, "custom": [{"dcvsControl": {"x": 1}}]}]},
    {"cores": [{"custom": {"dcvsControl": {"busVoltageCornerMin": {"start": "a"}}}, "hmxControl": {}}]}
  ],
  "context": [{"contextKey": "a"}, {"graph_splitting_configs": {}}],
  "memory": {"mem_type": "shared_buffer"}, "groupContext": {}
}"""


def test_every_object_has_its_section_and_keys() -> None:
    """Each object of the format is found, with the keys that lead to it; other values are left out."""
    file = parse_extension_file(INNER)
    assert file.kind is FileKind.INNER
    assert [(str(block.section), ".".join(block.at)) for block in file.blocks] == [
        ("top", ""),
        ("graphs[]", "graphs.0"),
        ("graphs[].hmx_op_bounding", "graphs.0.hmx_op_bounding"),
        ("devices[]", "devices.0"),
        ("devices[].cores[]", "devices.0.cores.0"),
        ("devices[].cores[]", "devices.0.cores.1"),
        ("devices[].cores[].custom[]", "devices.0.cores.1.custom.0"),
        ("dcvsControl", "devices.0.cores.1.custom.0.dcvsControl"),
        ("devices[]", "devices.1"),
        ("devices[].cores[]", "devices.1.cores.0"),
        ("devices[].cores[].custom", "devices.1.cores.0.custom"),
        ("dcvsControl of a custom object", "devices.1.cores.0.custom.dcvsControl"),
        (
            "devices[].cores[].custom.dcvsControl corner",
            "devices.1.cores.0.custom.dcvsControl.busVoltageCornerMin",
        ),
        ("devices[].cores[].hmxControl", "devices.1.cores.0.hmxControl"),
        ("context", "context.0"),
        ("context", "context.1"),
        ("context.graph_splitting_configs", "context.1.graph_splitting_configs"),
        ("memory", "memory"),
        ("groupContext", "groupContext"),
    ]


def test_keys_have_places_and_what_is_known_of_them() -> None:
    """Each member has its place and the entry of its key, or None for an unknown key."""
    file = parse_extension_file(INNER, "f.json")
    (core,) = file.of(Section.CORE, below=("devices", "0", "cores", "0"))
    ((member, key),) = core.members()
    assert key is KEYS[Section.CORE, "perf_profile"]
    assert str(file.place(member)) == "f.json:4:34"
    assert str(file.place(member.node)) == "f.json:4:50"
    ((_, unknown),) = file.of(Section.DCVS)[0].members()
    assert unknown is None
    assert str(file.problem("KEY-1", member, "no", "yes")) == "f.json:4:34: KEY-1: no (yes)"


def test_an_outer_file_is_told_by_its_backend_extensions() -> None:
    """The objects of an outer file have sections of their own."""
    file = parse_extension_file(
        '{"backend_extensions": {"config_file_path": "a"}, "graph_configs": [{}], "devices": []}'
    )
    assert file.kind is FileKind.OUTER
    assert [block.section for block in file.blocks] == [
        Section.OUTER_TOP,
        Section.BACKEND_EXTENSIONS,
        Section.GRAPH_CONFIGS,
    ]


@pytest.mark.parametrize("text", ["[]", "1", '"a"', "null", "{"])
def test_what_is_no_object_is_refused(text: str) -> None:
    """The error has its place."""
    with pytest.raises(ProfileError) as caught:
        parse_extension_file(text)
    assert caught.value.line == 1


def test_the_table_has_every_setting() -> None:
    """There are 78 settings, 18 of them about votes, and each key is listed once."""
    settings = (Section.GRAPH, Section.DEVICE, Section.CORE, Section.CONTEXT, Section.GROUP_CONTEXT, Section.MEMORY)
    found = [key for key in KEYS.values() if key.section in settings and key.name != "cores"]
    assert len(found) == 78
    assert sum(key.power for key in found) == 18
    rows = Path(extensions.__file__).with_name("keys.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == len(KEYS)
    assert known(Section.MEMORY) == ("mem_type",)


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: f"{key.section}.{key.name}")
def test_a_key_is_told_in_full(key: object) -> None:
    """Each key has a sentence, its words if it takes words, and useful limits within the accepted ones."""
    entry = KEYS[key.section, key.name]  # type: ignore[attr-defined]
    assert entry.does.endswith((".", ":"))
    assert bool(entry.words) or entry.type is not Type.WORD
    assert entry.type.kinds
    assert entry.since >= (2, 47)
    if entry.useful is not None and entry.limits is not None:
        assert entry.limits.low <= entry.useful.low <= entry.useful.high <= entry.limits.high
    assert entry.place.endswith(entry.name)
