"""Spans of a text, next to or within each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from htppower.tools.extensions.refusals.spans import Spans

# Nested parts; each may have further parts.
Nested = st.SearchStrategy[list[object]]
NESTED: Nested = st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=20)


def parts_of(nested: list[object], start: int, found: list[tuple[int, int]]) -> int:
    """Add a part and its inner parts, as spans with brackets, to what is found; return the end of the part."""
    end = start + 1
    for each in nested:
        assert isinstance(each, list)
        end = parts_of(each, end, found)
    found.append((start, end + 1))
    return end + 1


@given(NESTED, st.data())
def test_a_value_is_covered_where_it_stands_in_one_of_the_parts(nested: list[object], data: st.DataObject) -> None:
    """For any chosen spans and any span, ``cover`` gives the same answer as a comparison with each."""
    found: list[tuple[int, int]] = []
    parts_of(nested, 0, found)
    chosen = data.draw(st.lists(st.sampled_from(found)))
    spans = Spans(chosen)
    for start, end in found:
        assert spans.cover(start, end) == any(first <= start and end <= last for first, last in chosen)
