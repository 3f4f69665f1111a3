"""The JSON Schemas match the code, accept all valid files, and refuse malformed files if a schema can."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from support.any_relaxes import relaxes
from support.checkout import DATA, ROOT, TESTS
from support.schemas import VALIDATORS, refused
from support.shipped import shipped_folder

from htppower import ProfileError, load_profile, profile_names
from htppower.profiles.fields import profile_fields
from htppower.profiles.strict_yaml import read_document
from htppower.tools.cli.show import as_yaml
from htppower.tools.review.json_schema import FILES, json_schema
from htppower.tools.review.vote_tests.coverage import values_to_try

if TYPE_CHECKING:
    from htppower import Profile, Relax

SHIPPED = shipped_folder()
EXAMPLES = ROOT / "docs" / "examples"

GOOD = {
    "profile": [*SHIPPED.glob("*.yaml"), *EXAMPLES.glob("*.yaml"), *EXAMPLES.glob("adaptive/*.yaml")],
    "service": [*EXAMPLES.glob("service/*.yaml")],
    "state": [*SHIPPED.glob("states/*.yaml")],
    "test": [
        *SHIPPED.glob("tests/*.yaml"),
        *EXAMPLES.glob("adaptive/tests/*.yaml"),
        *TESTS.glob("unit/tools/cli/vote_tests/*.yaml"),
        *DATA.glob("vote_tests/tests/*.yaml"),
    ],
}


def each(files: dict[str, list[Path]]) -> pytest.MarkDecorator:
    """Run a test for every file, with its kind."""
    pairs = sorted((kind, file) for kind, paths in files.items() for file in paths)
    assert len(pairs) >= 20
    return pytest.mark.parametrize(("kind", "file"), pairs, ids=[f"{kind}-{file.stem}" for kind, file in pairs])


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_a_schema(name: str) -> None:
    """A schema is valid draft-07, every reference has a target, and every property has a description."""
    schema = json_schema(name)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    Draft7Validator.check_schema(schema)
    text = json.dumps(schema)
    for definition, made in schema.get("definitions", {}).items():
        assert f'"#/definitions/{definition}"' in text
        assert all(field["description"] for field in made.get("properties", {}).values())


@pytest.mark.parametrize("name", FILES)
def test_nothing_stands_beside_a_reference(name: str) -> None:
    """Draft-07 ignores it: a description there would never be shown."""
    waiting: list[Any] = [json_schema(name)]
    for node in waiting:
        assert not (isinstance(node, dict) and "$ref" in node and len(node) > 1)
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []


@each(GOOD)
def test_a_good_file_is_accepted(kind: str, file: Path) -> None:
    """Every shipped file and every example is accepted, as read by the strict reader and by any parser."""
    strict = read_document(str(file), kind).tree
    assert [error.message for error in VALIDATORS[kind].iter_errors(strict)] == []
    assert not refused(kind, file)


@each(GOOD)
def test_an_editor_finds_the_schema_of_a_file(kind: str, file: Path) -> None:
    """The first line of every shipped file and example gives a valid path to the schema of its kind."""
    modeline = file.read_text(encoding="utf-8").splitlines()[0]
    marker, _, path = modeline.partition("=")
    assert marker == "# yaml-language-server: $schema"
    schema = (file.parent / path).resolve()
    assert (schema.parent.name, schema.name) == ("schemas", f"{kind}.json")
    assert schema.read_bytes() == (SHIPPED / "schemas" / f"{kind}.json").read_bytes()


@given(st.data())
def test_what_loads_is_accepted(data: st.DataObject) -> None:
    """If a complete profile with a changed field loads, the schema accepts it too."""
    profile = changed(
        load_profile(data.draw(st.sampled_from([name for name in profile_names() if name != "system_settings"]))), data
    )
    text = as_yaml(profile)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mine.yaml")
        file.write_text(text)
        try:
            load_profile(file)
        except ProfileError:
            return
    assert [error.message for error in VALIDATORS["profile"].iter_errors(yaml.safe_load(text))] == []


@given(relaxes())
def test_what_a_profile_may_relax_to_is_accepted(relax: Relax) -> None:
    """A complete profile with any times and power states is accepted as written."""
    text = as_yaml(attrs.evolve(load_profile("burst"), name="mine", relax=relax))
    assert [error.message for error in VALIDATORS["profile"].iter_errors(yaml.safe_load(text))] == []


def changed(profile: Profile, data: st.DataObject) -> Profile:
    """Return the profile with up to four changed votes."""
    names = [at for at, _ in profile_fields(profile) if at[0] == "votes"]
    for at in data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True)):
        value: Any = data.draw(st.sampled_from([*values_to_try(*at[1:]), *(() if at[-1] == "power_mode" else (None,))]))
        votes, hvx = profile.votes, profile.votes.dcvs_v3
        if len(at) == 3 and hvx is not None:
            votes = attrs.evolve(votes, dcvs_v3=attrs.evolve(hvx, **{at[-1]: value}))
        elif len(at) == 2:
            votes = attrs.evolve(votes, **{at[-1]: value})
        profile = attrs.evolve(profile, votes=votes)
    return profile


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("votes: {rpc_polling_time_us: 10000}", "maximum"),
        ("votes: {hmx_timeout_us: 99}", "minimum"),
        ("votes: {dcvs_v3: {sleep_latency_us: 9}}", "minimum"),
        ("votes: {dcvs_v3: {core: SVS3}}", "enum"),
        ("relax: {after_inference_us: -1}", "minimum"),
        ("relax: {lowering: BACKGROUND}", "enum"),
        ("relax: {lowering: unset}", "enum"),
        ("relax: {after_inference_us: {adaptive: {break_even_us: 0}}}", "minimum"),
        ("relax: {after_inference_us: {adaptive: {most_us: 3600000001}}}", "maximum"),
        ("relax: {after_inference_us: {adaptive: {cold_starts: 100 %}}}", "pattern"),
        ("relax: {after_inference_us: {adaptive: {cold_starts: 0.0 %}}}", "pattern"),
        ("relax: {after_inference_us: {adaptive: {break_even_us: 9, cold_starts: 5 %}}}", "additionalProperties"),
        ("relax: {then: {to: released, after_us: {adaptiv: 5}}}", "additionalProperties"),
        ("relax: {raise_ahead_us: 1000001}", "maximum"),
        ("relaxes: {to: relaxed}", "additionalProperties"),
    ],
)
def test_a_file_that_extends_is_checked_in_what_it_states(text: str, says: str) -> None:
    """A file that extends another may leave out any field; the fields that it states must be valid."""
    good: dict[str, Any] = {"profile": "mine", "extends": "burst"}
    assert VALIDATORS["profile"].is_valid(good)
    relaxed: dict[str, Any] = {"after_inference_us": {"adaptive": {"least_us": 20_000}}, "then": {"to": "released"}}
    assert VALIDATORS["profile"].is_valid({**good, "relax": relaxed})
    (error,) = VALIDATORS["profile"].iter_errors({**good, **yaml.safe_load(text)})
    found = [error]
    for each_error in found:
        found += each_error.context or []
    assert says in {each_error.validator for each_error in found}
