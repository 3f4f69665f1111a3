"""A fleet is read on a real Dask cluster, and one of its workers is killed."""

from __future__ import annotations

import contextlib
import datetime
import gc
import importlib.util
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from support.fleets import write_fleet
from support.inside import patch_private

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.fleet import on_dask
from htppower.tools.tuning.fleet.files import trace_files
from htppower.tools.tuning.fleet.fleet import read_fleet
from htppower.tools.tuning.fleet.on_dask import Tls, on_cluster
from htppower.tools.tuning.fleet.records import FleetError, Question
from htppower.tools.tuning.fleet.settle import settle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from htppower.tools.tuning.fleet.fleet import Fleet
    from htppower.tools.tuning.fleet.records import TraceFile

# Its import is slow, and every worker of pytest-xdist would do it.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra fleet is not installed"
)

_FILES = 24
_QUESTION = Question(100_000, (Adaptive(100_000),))
_DEADLINE_S = 60


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[TraceFile, ...]:
    """Return traces, three in a chunk, and a file that is not a trace."""
    folder = tmp_path_factory.mktemp("fleet")
    write_fleet(folder, _FILES, 2_500)
    (folder / "notes.txt").write_text("no trace", encoding="utf-8")
    return trace_files(folder)


@pytest.fixture(scope="module")
def alone(files: tuple[TraceFile, ...]) -> Fleet:
    """Return the result of one process."""
    return read_fleet(files, _QUESTION)


@contextlib.contextmanager
def dask(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process of Dask's command; kill it at the end if it still runs."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-m", "dask", *arguments], **quiet) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Yield the address of a scheduler, and its two workers."""
    import distributed  # noqa: PLC0415 - takes long to import

    named = tmp_path / "scheduler.json"
    quick = ("--scheduler-file", str(named), "--dashboard-address", "127.0.0.1:0")
    with dask("scheduler", *quick, "--port", "0"), contextlib.ExitStack() as stack:
        mine = ("--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path))
        workers = [stack.enter_context(dask("worker", *quick, *mine)) for _ in range(2)]
        scheduler = address(named)
        with distributed.Client(scheduler) as client:
            client.wait_for_workers(len(workers), timeout=_DEADLINE_S)
        yield scheduler, workers


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tls, Tls]:
    """Return the TLS files of two authorities, each with its own certificate only."""
    return certified(tmp_path_factory.mktemp("mine")), certified(tmp_path_factory.mktemp("other"))


def certified(folder: Path) -> Tls:
    """Write a key and its certificate, which is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fleet")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number())
    made = made.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (folder / "cert.pem").write_bytes(signed.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return Tls(str(folder / "cert.pem"), str(folder / "cert.pem"), str(folder / "key.pem"))


def test_tls_lets_in_whom_the_authority_has_signed(
    files: tuple[TraceFile, ...],
    alone: Fleet,
    certificates: tuple[Tls, Tls],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The result equals one process's; a client with another certificate, or without a certificate, is refused.

    A refused client is closed here, since its closing by the collector can wait for a lock of Dask's for ever.
    """
    import distributed  # noqa: PLC0415 - takes long to import

    mine, other = certificates
    named = tmp_path / "scheduler.json"
    tls = ("--tls-ca-file", mine.ca, "--tls-cert", mine.cert, "--tls-key", mine.key)
    quick = ("--scheduler-file", str(named), "--dashboard-address", "127.0.0.1:0", *tls)
    with (
        dask("scheduler", *quick, "--protocol", "tls", "--port", "0"),
        dask("worker", *quick, "--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path)),
    ):
        scheduler = address(named)
        assert scheduler.startswith("tls://")
        assert read_fleet(files, _QUESTION, read=on_cluster(scheduler, tls=mine)) == alone
        patch_private(monkeypatch, on_dask, CONNECTING_S=1)
        for wrong in (other, None):
            with pytest.raises(FleetError, match="no Dask scheduler answers at"):
                read_fleet(files, _QUESTION, read=on_cluster(scheduler, tls=wrong))
        clients = [each for each in gc.get_objects() if isinstance(each, distributed.Client)]
        assert [each.status for each in clients if each.status != "closed"] == []


def address(named: Path) -> str:
    """Return the address in the file that a scheduler writes."""
    deadline_s = time.monotonic() + _DEADLINE_S
    while time.monotonic() < deadline_s:
        with contextlib.suppress(OSError, ValueError):
            found: str = json.loads(named.read_text(encoding="utf-8"))["address"]
            return found
        time.sleep(0.02)
    raise AssertionError("the scheduler does not start")


def test_a_worker_that_is_killed_costs_no_file(
    files: tuple[TraceFile, ...],
    alone: Fleet,
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    """The other worker reads its files; the result equals one process's, and the next run reads nothing."""
    scheduler, (killed, left) = cluster
    done: list[int] = []

    def kill_one(number: int) -> None:
        done.append(number)
        if killed.poll() is None and sum(done) > 0:
            killed.kill()
            killed.wait()
            assert sum(done) < _FILES // 2

    results = tmp_path / "results.jsonl"
    fleet = read_fleet(files, _QUESTION, read=on_cluster(scheduler), results=results, progress=kill_one)
    assert killed.poll() is not None
    assert left.poll() is None
    assert sum(done) == len(files) == _FILES + 1
    assert fleet == alone
    assert [each.path.rpartition("/")[2] for each in fleet.unread] == ["notes.txt"]
    assert settle(fleet.answers, _QUESTION) == settle(alone.answers, _QUESTION)
    again = read_fleet(files, _QUESTION, read=on_cluster(scheduler), results=results)
    assert (again.answers, again.kept, len(again.unread)) == (fleet.answers, _FILES, 1)
