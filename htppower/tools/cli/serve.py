"""``htppower serve``: a service that votes for other processes, in any language."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import re
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from htppower.errors import printable
from htppower.tools.cli.help import DEVICE, INVALID, WHAT, Command, option
from htppower.tools.cli.options import folders_option, library_option, refuse_library_with_simulated
from htppower.tools.cli.terminal import echo, kept_off_stdout

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from htppower.backends.base import Backend
    from htppower.control.controller import VoteController
    from htppower.hosts.service.limits import ServiceFields

_MODE = r"0?[0-7]{3}"
# Metrics are for this machine; a scraper elsewhere needs a proxy that knows whom to let in.
_METRICS_HOST = "127.0.0.1"


def _mode(_ctx: click.Context, _parameter: click.Parameter, text: str) -> int:
    if not re.fullmatch(_MODE, text):
        raise click.BadParameter(f"{text!r} is not a mode; write three octal digits, such as 660")
    return int(text, 8)


@click.command(name="serve", cls=Command, example="htppower serve --group fastrpc --mode 660")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@option(
    "--socket",
    metavar="PATH",
    group=WHAT,
    help="Listen at this Unix socket, or named pipe of Windows.  [default: $HTPPOWER_SOCKET, or /run/htppower/socket]",
)
@option(
    "--mode",
    default="600",
    show_default=True,
    callback=_mode,
    metavar="MODE",
    group=WHAT,
    help="The permissions of the socket; 660 lets its group connect, and 666 every user.",
)
@option("--group", metavar="NAME", group=WHAT, help="The group of the socket.")
@folders_option("Also look for profiles in this folder; may be repeated.")
@option(
    "--backend",
    type=click.Choice(["qnn", "simulated"]),
    default="qnn",
    show_default=True,
    group=DEVICE,
    help="Vote here.",
)
@library_option()
def command(**options: Any) -> None:
    """Vote for the processes that connect to a socket, in any language.

    FILE says what each user may have, and which caps hold. Without it each user has the defaults.

    It runs until SIGTERM or Ctrl-C. The votes of a client end with its connection. So a client that dies leaves none
    up, and neither does the service.

    Exit code 0: ended by a signal; 2: the service can't start.
    """
    refuse_library_with_simulated(options)
    from htppower.hosts.service.limits import service_file  # noqa: PLC0415 - not needed for a usage error
    from htppower.hosts.service.listening import Listening  # noqa: PLC0415
    from htppower.hosts.service.serving import serve  # noqa: PLC0415
    from htppower.profiles.cache import ProfileCache  # noqa: PLC0415
    from htppower.profiles.loading import profile_names  # noqa: PLC0415

    logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
    profiles = ProfileCache(options["folders"])
    file = service_file(options["file"], profiles)
    listening = Listening(options["socket"], options["mode"], options["group"])
    names = profile_names(options["folders"])
    run = functools.partial(serve, file=file, profiles=profiles, profile_names=names, listening=listening)
    with kept_off_stdout():
        _run(options, run, file.fields)


def _run(options: dict[str, Any], run: Callable[..., Coroutine[Any, Any, None]], fields: ServiceFields) -> None:
    from htppower.control.controller import VoteController  # noqa: PLC0415

    backend = _backend(options)

    def told(place: str) -> None:
        hardware = "" if backend.describe().hardware else "; no clock changes: there is no Hexagon behind it"
        echo(
            printable(f"htppower: {fields.service} serving at {place} on {backend.describe().library}{hardware}"),
            err=True,
        )

    # Signals end the service in order; only a closed console of Windows is left to the controller.
    with (
        contextlib.closing(backend),
        VoteController(backend, folders=options["folders"], handle_sigterm=sys.platform == "win32") as controller,
    ):
        try:
            controller.serve_status()
        except (OSError, ValueError) as error:
            echo(f"htppower: htppower status does not list this service: {error}", err=True)
        try:
            with _metrics(controller, fields.metrics_port):
                asyncio.run(_until_signal(run(controller, told=told)))
        except KeyboardInterrupt:
            # Windows has no signals for an event loop; the service has been closed in order all the same.
            return
        except (ValueError, OSError, RuntimeError, ImportError) as error:
            echo(printable(f"htppower: the service can't start: {error}"), err=True)
            click.get_current_context().exit(INVALID)


async def _until_signal(running: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(running)
    if sys.platform != "win32":
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(each, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


@contextlib.contextmanager
def _metrics(controller: VoteController, port: int | None) -> Iterator[None]:
    """Serve the metrics of the controller inside the block, unless the port is None."""
    if port is None:
        yield
        return
    # This import names the extra if prometheus_client is missing.
    from htppower.subscribers.prometheus import PrometheusMetrics  # noqa: PLC0415, I001
    import prometheus_client  # noqa: PLC0415

    registry = prometheus_client.CollectorRegistry()
    with contextlib.closing(PrometheusMetrics(controller, registry=registry)):
        try:
            server, thread = prometheus_client.start_http_server(port, _METRICS_HOST, registry)
        except OSError as error:
            raise OSError(f"metrics_port {port}: {error.strerror}: state another port") from None
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _backend(options: dict[str, Any]) -> Backend:
    if options["backend"] == "simulated":
        from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415

        return SimulatedHtp()
    from htppower.backends.qnn.htp import QnnHtp  # noqa: PLC0415

    return QnnHtp(options["library"])
