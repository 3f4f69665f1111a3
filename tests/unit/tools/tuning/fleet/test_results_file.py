"""The results file: appended to, valid after any end of a run, and used only for unchanged files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from support.fleets import answer

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.fleet import results_file as module
from htppower.tools.tuning.fleet.records import Cost, FleetError, Question
from htppower.tools.tuning.fleet.results_file import results_file

if TYPE_CHECKING:
    from htppower.tools.tuning.fleet.records import FileGaps

_QUESTION = Question(100_000, (Adaptive(100_000), Adaptive(cold_starts_ppm=50_000)), ("camera",), "csv")
_FIRST = answer("/a/\N{SNOWMAN}\udc80 one", [5, 30_000, 10**7], learnt=[Cost(1, 2), Cost(3, 4)])
_OPEN = Path("/proc/self/fd")
_SECOND = attrs.evolve(answer("/a/two", []), notes=("an unfinished line",))


def kept(path: Path, question: Question = _QUESTION) -> tuple[list[FileGaps], int]:
    """Return the answers in a file, and the number of broken lines."""
    with results_file(path, question) as found:
        assert all(found.found[each.file] == each for each in found.found.values())
        return list(found.found.values()), found.broken


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with two answers."""
    path = tmp_path / "fleet.jsonl"
    with results_file(path, _QUESTION) as results:
        assert results.found == {}
        results.keep([_FIRST])
        results.keep([])
        results.keep([_SECOND])
    return path


def test_what_is_kept_is_found(path: Path) -> None:
    """The next run finds every answer, for any path, and appends to them."""
    assert kept(path) == ([_FIRST, _SECOND], 0)
    third = answer("/a/three", [7])
    with results_file(path, _QUESTION) as results:
        results.keep([third])
    assert kept(path) == ([_FIRST, _SECOND, third], 0)


def test_it_is_kept_at_once(path: Path) -> None:
    """An answer is in the file before the run ends."""
    before = path.stat().st_size
    with results_file(path, _QUESTION) as results:
        results.keep([_FIRST])
        assert path.stat().st_size > before


def test_a_file_that_has_changed_is_another(path: Path) -> None:
    """An answer belongs to a path, a size and a time; the last answer for the same file counts."""
    changed = attrs.evolve(_FIRST, file=attrs.evolve(_FIRST.file, size=2))
    newer = attrs.evolve(_SECOND, inferences=9)
    with results_file(path, _QUESTION) as results:
        assert changed.file not in results.found
        assert attrs.evolve(_FIRST.file, mtime_ns=2) not in results.found
        results.keep([changed, newer])
    assert kept(path) == ([_FIRST, newer, changed], 0)


@pytest.mark.parametrize(
    "other",
    [
        attrs.evolve(_QUESTION, break_even_us=1),
        attrs.evolve(_QUESTION, learnt=()),
        attrs.evolve(_QUESTION, sessions=()),
        attrs.evolve(_QUESTION, form=None),
    ],
)
def test_answers_to_another_question_do_not_count(path: Path, other: Question) -> None:
    """Such answers stay in the file, for a run with that question."""
    assert kept(path, other) == ([], 0)
    with results_file(path, other) as results:
        results.keep([_SECOND])
    assert kept(path, other) == ([_SECOND], 0)
    assert kept(path) == ([_FIRST, _SECOND], 0)


def test_answers_of_another_version_do_not_count(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version may learn differently."""
    monkeypatch.setattr(module, "__version__", "0.0.1")
    assert kept(path) == ([], 0)


def test_it_is_whole_wherever_it_is_cut_off(path: Path) -> None:
    """A killed run leaves the beginning of the file: its whole lines are read, and new lines are not lost."""
    data = path.read_bytes()
    ends = [place for place, byte in enumerate(data) if byte == 0x0A]
    for length in (*range(80), *range(80, len(data), 97), *ends, *(end + 1 for end in ends), len(data)):
        path.write_bytes(data[:length])
        whole = sum(end <= length for end in ends[1:])
        with results_file(path, _QUESTION) as results:
            assert list(results.found.values()) == [_FIRST, _SECOND][:whole]
            results.keep([_SECOND])
        found, broken = kept(path)
        assert found == ([_FIRST, _SECOND] if whole else [_SECOND])
        assert broken <= 1


def test_a_broken_line_is_read_again(path: Path) -> None:
    """A broken line is counted, and the other lines are read."""
    lines = path.read_bytes().split(b"\n")
    for junk in (
        b"\0\0\0",
        b"{}",
        b'{"asked":1,"answer":{}}',
        lines[1].replace(b'"inferences":4', b'"inferences":-4'),
        *(lines[1].replace(b'"inferences":4', b'"inferences":%d' % number) for number in (2**63, 10**4000)),
        lines[1].replace(b'"sessions":1', b'"sessions":%d' % 10**4000),
        lines[1].replace(b'"inferences":4', b'"inferences":' + b"9" * 5000),
        b"\xff",
    ):
        path.write_bytes(b"\n".join([lines[0], junk, *lines[2:]]))
        assert kept(path) == ([_SECOND], 1)


@pytest.mark.parametrize("content", [b"a file of somebody\n", b"a file of somebody", b"{}\n", b"\n\nx"])
def test_the_file_of_somebody_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """A file of another kind is refused by name, and stays as it is."""
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(FleetError, match="notes: is not a results file"), results_file(path, _QUESTION):
        pass
    assert path.read_bytes() == content


@pytest.mark.needs("descriptors")
@pytest.mark.skipif(not _OPEN.is_dir(), reason="this system does not list open files")
def test_no_file_stays_open(path: Path) -> None:
    """The file is closed after an exception in a run, and after a refusal."""
    before = len(list(_OPEN.iterdir()))
    with pytest.raises(KeyboardInterrupt), results_file(path, _QUESTION):
        raise KeyboardInterrupt
    path.write_bytes(b"x")
    with pytest.raises(FleetError), results_file(path, _QUESTION):
        pass
    assert len(list(_OPEN.iterdir())) == before
