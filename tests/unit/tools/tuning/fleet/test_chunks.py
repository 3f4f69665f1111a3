"""Files are cut into chunks of about a second's work."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from htppower.tools.tuning.fleet.chunks import Chunks
from htppower.tools.tuning.fleet.records import TraceFile


def files(*sizes: int) -> list[TraceFile]:
    """Return files of these sizes."""
    return [TraceFile(f"{number}", size, 1) for number, size in enumerate(sizes)]


@given(st.lists(st.integers(0, 10**8), max_size=40), st.floats(0, 10), st.integers(1, 64))
def test_every_file_is_in_one_chunk(sizes: list[int], took_s: float, readers: int) -> None:
    """For any speed, every file is read once, the largest first, and only the last chunk may be empty."""
    chunks = Chunks(files(*sizes))
    seen: list[TraceFile] = []
    while chunk := chunks.next(readers):
        seen += chunk
        chunks.took(chunk, took_s)
        assert len(chunks) == len(sizes) - len(seen)
    assert sorted(seen, key=lambda file: int(file.path)) == files(*sizes)
    assert [file.size for file in seen] == sorted(sizes, reverse=True)


def test_chunks_take_about_a_second() -> None:
    """The first chunk is small; once the speed is known, the next chunks take one second."""
    chunks = Chunks(files(*[91_808] * 10_000))  # 100,000 bytes each, including the cost of opening them
    first = chunks.next()
    assert len(first) == 10
    chunks.took(first, 0.1)
    assert len(chunks.next()) == 100
    chunks.took(first, 0.3)
    assert len(chunks.next()) == 50


def test_towards_the_end_they_take_a_tenth_of_a_second() -> None:
    """Short chunks let two readers end at about the same time, but no chunk is too short for its transfer."""
    chunks = Chunks(files(*[91_808] * 310))
    chunks.took(chunks.next(), 0.1)
    lengths = []
    while chunk := chunks.next(readers=2):
        lengths.append(len(chunk))
    assert lengths[0] == 75
    assert min(lengths[:-1]) == 10
    assert sum(lengths) == 300


def test_a_file_that_is_longer_is_a_chunk_of_its_own() -> None:
    """A file is never split."""
    chunks = Chunks(files(10**9, 10**9, 5))
    assert [len(chunks.next()) for _ in range(4)] == [1, 1, 1, 0]
