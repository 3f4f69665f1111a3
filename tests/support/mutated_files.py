"""Files with a few slices deleted, doubled or replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@st.composite
def mutated(draw: st.DrawFn, files: Sequence[Path], words: tuple[bytes, ...]) -> bytes:
    """Draw the text of one of the files with up to four slices deleted, doubled, or replaced by words or any bytes."""
    data = draw(st.sampled_from(files)).read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(start + 40, len(data))))
        piece = data[start:end]
        put = st.just(b"") | st.just(piece * 2) | st.sampled_from(words) | st.binary(max_size=8)
        data = data[:start] + draw(put) + data[end:]
    return data
