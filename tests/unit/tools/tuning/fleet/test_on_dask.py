"""Workers that die or can't run htppower, and a lost cluster, with a stand-in for Dask.

The real Dask is tested in ``tests/process/test_fleet.py``.
"""

from __future__ import annotations

import asyncio
import importlib.util
from typing import TYPE_CHECKING, Any, cast

import attrs
import pytest
from support.fleets import write_fleet
from support.inside import ended_chunks, patch_private

from htppower.tools.tuning.fleet import on_dask
from htppower.tools.tuning.fleet.chunks import Chunks
from htppower.tools.tuning.fleet.files import trace_files
from htppower.tools.tuning.fleet.on_dask import Tls, on_cluster, read_on
from htppower.tools.tuning.fleet.reading import read_chunk
from htppower.tools.tuning.fleet.records import FileGaps, FleetError, Question, TraceFile, Unread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from distributed.scheduler import WorkerState

# The import takes long, and each worker of pytest-xdist would repeat it.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra fleet is not installed"
)

_QUESTION = Question(100_000)
_FILES = 12


class _Future:
    def __init__(self, result: object = None, error: Exception | None = None, status: str = "finished") -> None:
        self.status = status if error is None else "error"
        self._result = result
        self._error = error

    def result(self) -> object:
        return self._result

    def exception(self) -> Exception | None:
        return self._error


class _Cluster:
    """Runs each submitted task at once, in place of a client of Dask."""

    def __init__(self, outcome: Callable[[Sequence[TraceFile]], _Future]) -> None:
        self.cancelled: list[_Future] = []
        self.submitted: list[list[TraceFile]] = []
        self._outcome = outcome

    def nthreads(self) -> dict[str, int]:
        return {"a": 1, "b": 1}

    def submit(
        self, _work: object, files: list[TraceFile], _question: Question, _timeout_s: None, *, pure: bool
    ) -> _Future:
        assert not pure
        self.submitted.append(files)
        return self._outcome(files)

    def cancel(self, futures: list[_Future]) -> None:
        self.cancelled += futures


def _read(files: Sequence[TraceFile]) -> _Future:
    return _Future(read_chunk(files, _QUESTION))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[TraceFile, ...]:
    """Return the files of a fleet; submitted tasks run one at a time, in order."""
    write_fleet(tmp_path, _FILES, 5)
    patch_private(monkeypatch, on_dask, done=lambda _client, under_way, _tell: [next(iter(under_way))])
    return trace_files(tmp_path)


def read_by(cluster: _Cluster, files: Sequence[TraceFile]) -> list[FileGaps | Unread]:
    """Return the answers of all files."""
    client: Any = cluster
    return [answer for chunk in read_on(client, Chunks(files), _QUESTION) for answer in chunk.answers]


def test_all_is_read_and_nothing_is_left_behind(files: tuple[TraceFile, ...]) -> None:
    """Every file is submitted once, and at the end nothing is running."""
    cluster = _Cluster(_read)
    answers = read_by(cluster, files)
    assert {each.file for each in answers if isinstance(each, FileGaps)} == set(files)
    assert sum(map(len, cluster.submitted)) == len(answers) == _FILES
    assert cluster.cancelled == []


def test_a_file_that_kills_its_readers_is_named_alone(files: tuple[TraceFile, ...]) -> None:
    """The chunk of such a file is read again file by file, so that its other files are read."""
    from distributed import KilledWorker  # noqa: PLC0415 - takes long to import

    poison, worker = files[5], cast("WorkerState", None)

    def outcome(chunk: Sequence[TraceFile]) -> _Future:
        return _Future(error=KilledWorker("read", worker, 3)) if poison in chunk else _read(chunk)

    answers = read_by(_Cluster(outcome), files)
    assert [each for each in answers if isinstance(each, Unread)] == [
        Unread(poison.path, f"{poison.path}: every worker that read it died; it may not fit into their memory")
    ]
    assert {each.file for each in answers if isinstance(each, FileGaps)} == set(files) - {poison}


def test_a_result_that_died_with_its_worker_is_waited_for(files: tuple[TraceFile, ...]) -> None:
    """If a worker dies after its last file, before its result is fetched, another worker reads the chunk."""

    class _Returning(_Future):
        @property
        def status(self) -> str:
            return next(states, "finished")

        @status.setter
        def status(self, _: str) -> None:
            pass

    states = iter(["lost", "pending", "lost"])
    answers = read_by(_Cluster(lambda chunk: _Returning(read_chunk(chunk, _QUESTION))), files)
    assert len(answers) == _FILES


def test_a_worker_of_another_version_is_refused(files: tuple[TraceFile, ...]) -> None:
    """The bins and learners of another version may differ; its tasks are cancelled."""

    def outcome(chunk: Sequence[TraceFile]) -> _Future:
        return _Future(attrs.evolve(read_chunk(chunk, _QUESTION), version="0.0.1"))

    cluster = _Cluster(outcome)
    (single,) = files[:1]
    with pytest.raises(FleetError, match=r"a worker has htppower 0\.0\.1, but this is .*: install the same on both"):
        read_by(cluster, [attrs.evolve(single, size=2**21), *[attrs.evolve(each, size=2**20) for each in files[1:]]])
    assert len(cluster.submitted) == 4
    assert len(cluster.cancelled) == 3


def test_a_worker_without_htppower_is_told(files: tuple[TraceFile, ...]) -> None:
    """The message says which package to install there."""
    cluster = _Cluster(lambda _: _Future(error=ModuleNotFoundError("No module named 'htppower'")))
    with pytest.raises(FleetError, match=r"No module named 'htppower'; install htppower\[fleet\] where it runs"):
        read_by(cluster, files)


def test_a_cluster_that_is_gone_is_told(files: tuple[TraceFile, ...]) -> None:
    """The loss is noticed by futures, by a call to the cluster, and while waiting."""
    with pytest.raises(FleetError, match="the Dask cluster is gone"):
        read_by(_Cluster(lambda _: _Future(status="cancelled")), files)

    class _Gone(_Cluster):
        def nthreads(self) -> dict[str, int]:
            raise OSError("closed")

    with pytest.raises(FleetError, match="the Dask cluster is gone"):
        read_by(_Gone(_read), files)


def test_a_cluster_without_workers_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each quiet period without workers gives a message; a busy cluster gives none."""
    threads: list[dict[str, int]] = [{}, {"a": 1}]
    waits = iter([asyncio.TimeoutError(), asyncio.TimeoutError(), None])

    def wait(futures: list[object], **_: object) -> Any:
        error = next(waits)
        if error is not None:
            raise error
        return type("Done", (), {"done": futures})

    monkeypatch.setattr("distributed.wait", wait)
    told: list[str] = []
    client: Any = type("Client", (), {"nthreads": lambda _: threads.pop(0)})()
    under_way: Any = {"future": []}
    assert ended_chunks(client, under_way, told.append) == ["future"]
    assert told == ["the cluster has no worker: waiting for a worker"]
    assert threads == []


def test_no_cluster_is_started_for_nothing() -> None:
    """If an earlier run has read all files, no cluster is contacted: this address has no port."""
    assert list(on_cluster("nowhere")(Chunks([]), _QUESTION)) == []


def test_an_address_that_is_none_is_refused() -> None:
    """The error names the address, and explains how to start a scheduler."""
    reading = on_cluster("nowhere")(Chunks([TraceFile("a", 1, 1)]), _QUESTION)
    with pytest.raises(FleetError, match=r"no Dask scheduler answers at nowhere: .*start one with: dask scheduler"):
        list(reading)


def test_a_file_that_is_no_certificate_is_told(tmp_path: Path) -> None:
    """The error names the files, and no connection is made."""
    (tmp_path / "a.pem").write_text("nothing", encoding="utf-8")
    named = str(tmp_path / "a.pem")
    reading = on_cluster("tls://127.0.0.1:1", tls=Tls(named, named, named))(Chunks([TraceFile("a", 1, 1)]), _QUESTION)
    with pytest.raises(FleetError, match=r"can't use TLS with .*a\.pem.*; give files in PEM"):
        list(reading)
