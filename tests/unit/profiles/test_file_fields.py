"""The classes that hold the mappings of a file."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from htppower.profiles.field_limits import declared, fields_of
from htppower.profiles.file_format import BreakEvenFields, ProfileFields, RelaxFields, StateFields, ThenFields


def test_what_a_file_leaves_out_has_its_default() -> None:
    """A given value is kept, also None; every other field has its declared default."""
    given: dict[str, Any] = {"break_even_us": None, "most_us": 7}
    fields = BreakEvenFields(**given)
    assert attrs.asdict(fields) == {"break_even_us": None, "least_us": 0, "most_us": 7}


@pytest.mark.parametrize("kind", [ProfileFields, StateFields, RelaxFields, ThenFields])
def test_only_a_field_that_may_be_left_out_has_a_default(kind: type[attrs.AttrsInstance]) -> None:
    """A required field has no default, and every field has a description for the schemas."""
    for name, (_, wants) in declared(kind).items():
        assert wants.optional == (attrs.fields_dict(kind)[name].default is not attrs.NOTHING)
        assert wants.says


def test_a_field_that_may_be_left_out_is_unset_only_where_it_says_so() -> None:
    """``then`` may be the word unset; ``most_us`` can be left out, but not be unset."""
    then, _ = fields_of(RelaxFields)["then"]
    most_us, _ = fields_of(BreakEvenFields)["most_us"]
    assert then == ThenFields | None
    assert most_us is int
