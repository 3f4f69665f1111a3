"""Reads properties of services on D-Bus again whenever one of them changes, on its own thread.

``dbus-fast`` implements the protocol of the bus in Python, on asyncio.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any

from dbus_fast import BusType, Message, MessageType
from dbus_fast.aio import MessageBus

from htppower.control.time.workers import start_apart
from htppower.errors import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOGGER = logging.getLogger("htppower.power_profiles")

_BUS = "org.freedesktop.DBus"
_PROPERTIES = "org.freedesktop.DBus.Properties"
# The timeout of a call. The bus may have to start the service first, which takes some seconds.
_LONGEST_CALL_S = 30.0
_LONGEST_CONNECT_S = 5.0
_RECONNECT_S = 5.0


class PropertyWatcher:
    """Listens to services from ``start`` until ``close``.

    The object and the interface with the properties of a service have the name of the service.

    Args:
        services: for each key the names of possible services; the first service that answers counts.
        changed: called on the watcher's thread with the properties by key, soon after the start and whenever they may
            have changed. A key is missing if no service answers. The argument is None instead if the bus can't be
            reached.
        address: the bus; None for the system bus.
    """

    def __init__(
        self,
        services: Mapping[str, tuple[str, ...]],
        changed: Callable[[Mapping[str, Mapping[str, Any]] | None], object],
        address: str | None,
    ) -> None:
        self._services = dict(services)
        self._changed = changed
        self._address = address
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._told_lost = False

    def start(self) -> None:
        """Start the thread; RuntimeError if it can't be started."""
        start_apart(threading.Thread(target=self._run, name="htppower-dbus", daemon=True).start)

    def close(self) -> None:
        """Stop listening, without waiting for it."""
        self._closed = True
        # The loop may have ended by itself, for example at the end of the process.
        with contextlib.suppress(RuntimeError):
            if (task := self._task) is not None:
                task.get_loop().call_soon_threadsafe(task.cancel)

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._listen_until_closed())

    async def _listen_until_closed(self) -> None:
        asyncio.get_running_loop().set_exception_handler(_log_unless_lost)
        self._task = asyncio.current_task()
        while not self._closed:
            try:
                await self._listen()
            except Exception as error:  # noqa: BLE001 - dbus-fast: "any other connection error"
                self._changed(None)
                if not self._told_lost:
                    self._told_lost = True
                    said = printable(shortened(str(error))) or type(error).__name__
                    _LOGGER.warning("the bus can't be reached, and is tried again every %g s: %s", _RECONNECT_S, said)
            await asyncio.sleep(_RECONNECT_S)

    async def _listen(self) -> None:
        """Connect, and report the properties until the connection is lost."""
        bus = await _connected(self._address)
        lost = asyncio.ensure_future(bus.wait_for_disconnect())  # type: ignore[no-untyped-call]
        try:
            stale = asyncio.Event()
            lost.add_done_callback(lambda _: stale.set())
            # Only signals about these services pass the match rules.
            bus.add_message_handler(lambda message: stale.set() if message.message_type is MessageType.SIGNAL else None)
            for service in {service for services in self._services.values() for service in services}:
                await _match(bus, f"path='{_path(service)}',interface='{_PROPERTIES}',arg0='{service}'")
                await _match(bus, f"sender='{_BUS}',member='NameOwnerChanged',arg0='{service}'")
            while not lost.done():
                stale.clear()
                self._changed(await self._read(bus))
                self._told_lost = False
                await stale.wait()
            lost.result()
            raise ConnectionResetError("the bus has closed the connection")
        finally:
            lost.cancel()
            bus.disconnect()

    async def _read(self, bus: MessageBus) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for key, services in self._services.items():
            for service in services:
                reply = await _call(bus, service, _PROPERTIES, "GetAll", service)
                if reply.message_type is MessageType.METHOD_RETURN and reply.signature == "a{sv}":
                    found[key] = {name: variant.value for name, variant in reply.body[0].items()}
                    break
        return found


def _log_unless_lost(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an exception that no coroutine has awaited, unless it means a lost connection.

    If the bus closes before dbus-fast has sent a message, dbus-fast sets the error in a future of its own.
    """
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)


async def _connected(address: str | None) -> MessageBus:
    bus = MessageBus(address, BusType.SYSTEM)
    try:
        return await asyncio.wait_for(bus.connect(), _LONGEST_CONNECT_S)
    except asyncio.TimeoutError:
        bus.disconnect()
        raise TimeoutError(f"it accepts a connection, and does not answer within {_LONGEST_CONNECT_S:g} s") from None


async def _match(bus: MessageBus, rule: str) -> None:
    reply = await _call(bus, _BUS, _BUS, "AddMatch", f"type='signal',{rule}")
    if reply.message_type is MessageType.ERROR:
        # Without the signals that report changes, the properties would never be read again.
        raise ConnectionRefusedError(
            f"it refuses to report changes: {reply.error_name} {' '.join(map(str, reply.body))}"
        )


async def _call(bus: MessageBus, service: str, interface: str, member: str, argument: str) -> Message:
    message = Message(service, _path(service), interface, member, signature="s", body=[argument])
    reply = await asyncio.wait_for(bus.call(message), _LONGEST_CALL_S)
    if reply is None:
        raise ConnectionResetError("the bus has closed the connection")
    return reply


def _path(service: str) -> str:
    return "/" + service.replace(".", "/")
