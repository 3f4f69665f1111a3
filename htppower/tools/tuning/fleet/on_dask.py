"""Reads the files of a fleet on a Dask cluster that runs already. Needs the extra ``fleet``.

If a worker dies, Dask gives its chunks to other workers. If several workers die on a chunk, its files are read again
one by one. So a file that kills its readers is found and named, and the other files are read.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.errors import printable
from htppower.tools.tuning.fleet.reading import read_chunk
from htppower.tools.tuning.fleet.records import FleetError, ReadChunk, Unread

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from distributed import Client, Future, Security

    from htppower.tools.tuning.fleet.chunks import Chunks
    from htppower.tools.tuning.fleet.reading import Reader
    from htppower.tools.tuning.fleet.records import Question, TraceFile

_CONNECTING_S = 10
_FIRST_WORKER_S = 30
_LOOKING_S = 10
# The worker died after it was done, but before its result was fetched: another worker reads the chunk.
_UNDER_WAY_AGAIN = frozenset({"lost", "pending"})
# How many chunks each thread of a worker has: one that is read, and one that waits.
_CHUNKS_A_THREAD = 2


def has_dask() -> bool:
    """Return whether the extra ``fleet`` is installed."""
    try:
        import distributed  # noqa: F401, PLC0415 - takes long to import
    except ImportError:
        return False
    return True


@attrs.frozen
class Tls:
    """The PEM files that authenticate a client and a cluster to each other.

    Attributes:
        ca: the certificate of the authority that signed the certificates of the cluster.
        cert: the certificate of this client.
        key: the key of that certificate.
    """

    ca: str
    cert: str
    key: str


def on_cluster(
    address: str,
    tell: Callable[[str], None] = lambda _: None,
    *,
    tls: Tls | None = None,
    timeout_s: float | None = None,
) -> Reader:
    """Return a reader that uses a running cluster; its errors are those of ``read_on``.

    Args:
        address: the address of the scheduler, such as ``tls://10.0.0.1:8786``.
        tell: is called with a message while the cluster has no worker.
        tls: the files for TLS; if given, connections without TLS are refused.
        timeout_s: a file that takes longer, in s, is left out; None sets no limit.
    """

    def read(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
        if chunks:
            with _cluster_at(address, tls) as client:
                yield from read_on(client, chunks, question, tell, timeout_s)

    return read


@contextlib.contextmanager
def _cluster_at(address: str, tls: Tls | None) -> Iterator[Client]:
    """Yield a client of a running cluster. The cluster keeps running afterwards.

    Raises:
        FleetError: no scheduler answers at the address, or it has no worker, or a file for TLS can't be used.
    """
    from distributed import Client  # noqa: PLC0415 - takes long to import

    class Closing(Client):
        """A client that is closed if it can't connect; closing by the garbage collector can deadlock on Dask's lock."""

        def start(self, **kwargs: Any) -> None:
            try:
                super().start(**kwargs)  # type: ignore[no-untyped-call]
            except BaseException:
                self.close()  # type: ignore[no-untyped-call]
                raise

    security = None if tls is None else _security(tls)
    try:
        client = Closing(address, timeout=_CONNECTING_S, security=security)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        said = printable(str(error))
        raise FleetError(f"no Dask scheduler answers at {address}: {said}; start one with: dask scheduler") from None
    with _quiet("distributed.client"), client:
        try:
            client.wait_for_workers(1, timeout=_FIRST_WORKER_S)
        except asyncio.TimeoutError:
            said = f"has had no worker for {_FIRST_WORKER_S} s; start one with: dask worker {address}"
            raise FleetError(f"the Dask scheduler at {address} {said}") from None
        yield client


def _security(tls: Tls) -> Security:
    """Return the settings that make Dask use TLS, and refuse a cluster without TLS.

    Raises:
        FleetError: a file can't be used.
    """
    from distributed import Security  # noqa: PLC0415 - takes long to import

    found = Security(tls_ca_file=tls.ca, tls_client_cert=tls.cert, tls_client_key=tls.key, require_encryption=True)
    try:
        found.get_connection_args("client")
    except (OSError, ValueError) as error:
        named = f"{tls.ca}, {tls.cert}, {tls.key}"
        said = printable(str(error))
        raise FleetError(
            f"can't use TLS with {named}: {said}; give files in PEM, and the key of the certificate"
        ) from None
    return found


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger, since the same errors are reported as ``FleetError``."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def read_on(
    client: Client,
    chunks: Chunks,
    question: Question,
    tell: Callable[[str], None] = lambda _: None,
    timeout_s: float | None = None,
) -> Generator[ReadChunk, None, None]:
    """Yield each chunk when it is read.

    Args:
        client: the client of the cluster.
        chunks: the files.
        question: the question that each file is read for.
        tell: is called with a message while the cluster has no worker.
        timeout_s: a file that takes longer, in s, is left out; None sets no limit.

    Raises:
        FleetError: the cluster is gone, or its workers can't run htppower, or have another version of it.
    """
    under_way: dict[Future[ReadChunk], list[TraceFile]] = {}
    try:
        while True:
            readers = max(1, sum(_threads(client).values()))
            while len(under_way) < _CHUNKS_A_THREAD * readers and (files := chunks.next(readers)):
                under_way[_submitted(client, files, question, timeout_s)] = files
            if not under_way:
                return
            for future in _done(client, under_way, tell):
                if future.status in _UNDER_WAY_AGAIN:
                    continue
                files = under_way.pop(future)
                read = _result(future, files)
                if read is None:
                    under_way.update((_submitted(client, [each], question, timeout_s), [each]) for each in files)
                else:
                    chunks.took(files, read.took_s)
                    yield read
    finally:
        # If the caller stops early, no work is left on the cluster, which may be shared.
        with contextlib.suppress(Exception):
            client.cancel(list(under_way))


def _submitted(
    client: Client, files: list[TraceFile], question: Question, timeout_s: float | None
) -> Future[ReadChunk]:
    # Not pure, since a file may have changed although its name is the same.
    return client.submit(read_chunk, files, question, timeout_s, pure=False)


def _threads(client: Client) -> dict[str, int]:
    try:
        found: dict[str, int] = client.nthreads()
    except (OSError, asyncio.TimeoutError):
        raise _lost() from None
    return found


def _done(
    client: Client, under_way: dict[Future[ReadChunk], Any], tell: Callable[[str], None]
) -> list[Future[ReadChunk]]:
    """Wait until at least one chunk is done, and return all that are done."""
    from distributed import wait  # noqa: PLC0415 - takes long to import
    from distributed.client import FuturesCancelledError  # noqa: PLC0415

    while True:
        try:
            return list(wait(list(under_way), timeout=_LOOKING_S, return_when="FIRST_COMPLETED").done)
        except asyncio.TimeoutError:
            if not _threads(client):
                tell("the cluster has no worker: waiting for a worker")
        except (FuturesCancelledError, asyncio.CancelledError, OSError):
            raise _lost() from None


def _result(future: Future[ReadChunk], files: list[TraceFile]) -> ReadChunk | None:
    """Return the result of a chunk; None if its files have to be read one by one."""
    from distributed import KilledWorker  # noqa: PLC0415 - as above

    if future.status == "cancelled":
        raise _lost()
    error = future.exception() if future.status == "error" else None
    if isinstance(error, KilledWorker):
        if len(files) > 1:
            return None
        why = "every worker that read it died; it may not fit into their memory"
        return ReadChunk((Unread(files[0].path, f"{files[0].path}: {why}"),), 0.0, __version__)
    if error is not None:
        said = printable(f"{type(error).__name__}: {error}")
        raise FleetError(f"a worker can't run htppower {__version__}: {said}; install htppower[fleet] where it runs")
    read = future.result()
    if not isinstance(read, ReadChunk) or read.version != __version__:
        found = getattr(read, "version", "another")
        raise FleetError(f"a worker has htppower {found}, but this is {__version__}: install the same on both")
    return read


def _lost() -> FleetError:
    return FleetError("the Dask cluster is gone; run the command again: answers in the output file are kept")
