"""Properties of services on D-Bus, read again whenever one of them changes, on a thread of its own.

The bus is the system's, by ``dbus-fast``: the wire protocol in Python, for asyncio.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any

import attrs
from dbus_fast import BusType, Message, MessageType
from dbus_fast.aio import MessageBus

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.workers import start_apart
from htppower.errors import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOGGER = logging.getLogger("htppower.power_profiles")

_BUS = "org.freedesktop.DBus"
_PROPERTIES = "org.freedesktop.DBus.Properties"
# Well above what a service takes to start, which the bus does when it is asked for.
_LONGEST_CALL_S = 30.0
# A bus answers at once: nothing is started for a connection.
_LONGEST_CONNECT_S = 5.0
_RECONNECT_S = 5.0


@attrs.frozen
class Service:
    """An object whose properties are followed.

    Attributes:
        name: the name of its service on the bus.
        path: the object.
        interface: the interface that has the properties.
    """

    name: str
    path: str
    interface: str


class PropertyWatcher:
    """Follows services, from when it is started until it is closed.

    Args:
        services: for each key the services that may have it; the first that answers with properties counts.
        changed: called on the watcher's thread with the properties by key, soon after it is started and whenever they
            may have changed; without a key where no service answers; with None where the bus can't be reached.
        address: the bus, such as ``unix:path=/run/dbus/system_bus_socket``; None for the system's.
    """

    def __init__(
        self,
        services: Mapping[str, tuple[Service, ...]],
        changed: Callable[[Mapping[str, Mapping[str, Any]] | None], object],
        address: str | None,
    ) -> None:
        self._services = dict(services)
        self._changed = changed
        self._address = address
        self._lock = whole_lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._told_lost = False

    def start(self) -> None:
        """Start its thread, which ends soon where it was closed before.

        Raises:
            RuntimeError: none can be started.
        """
        start_apart(threading.Thread(target=self._run, name="htppower-dbus", daemon=True).start)

    def close(self) -> None:
        """Follow no more; what is being told is not waited for."""
        with self._lock:
            self._closed = True
            # The loop may have ended by itself, as at the end of the process.
            with contextlib.suppress(RuntimeError):
                if self._loop is not None and self._task is not None:
                    self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._follow_always())

    async def _follow_always(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._loop.set_exception_handler(_log_unless_lost)
        while True:
            try:
                await self._follow()
            except Exception as error:  # noqa: BLE001 - dbus-fast: "any other connection error"
                self._lost(error)
            await asyncio.sleep(_RECONNECT_S)

    def _lost(self, error: Exception) -> None:
        self._changed(None)
        if not self._told_lost:
            self._told_lost = True
            said = printable(shortened(str(error))) or type(error).__name__
            _LOGGER.warning("the bus can't be reached, and is tried again every %g s: %s", _RECONNECT_S, said)

    async def _follow(self) -> None:
        """Connect, and tell of the properties until the connection is lost."""
        bus = await _connected(self._address)
        try:
            stale = asyncio.Event()
            watched = {service for services in self._services.values() for service in services}
            bus.add_message_handler(lambda message: self._hear(message, watched, stale))
            for service in watched:
                await _match(bus, f"path='{service.path}',interface='{_PROPERTIES}',arg0='{service.interface}'")
                await _match(bus, f"sender='{_BUS}',member='NameOwnerChanged',arg0='{service.name}'")
            lost = asyncio.ensure_future(bus.wait_for_disconnect())  # type: ignore[no-untyped-call]
            try:
                while not lost.done():
                    stale.clear()
                    self._changed(await self._read(bus))
                    self._told_lost = False
                    changed = asyncio.ensure_future(stale.wait())
                    try:
                        await asyncio.wait({changed, lost}, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        changed.cancel()
                lost.result()
                raise ConnectionResetError("the bus has closed the connection")
            finally:
                lost.cancel()
        finally:
            bus.disconnect()

    @staticmethod
    def _hear(message: Message, watched: set[Service], stale: asyncio.Event) -> None:
        if message.message_type is not MessageType.SIGNAL or not message.body:
            return
        of_properties = message.member == "PropertiesChanged" and message.interface == _PROPERTIES
        if (
            of_properties and any((each.path, each.interface) == (message.path, message.body[0]) for each in watched)
        ) or (message.member == "NameOwnerChanged" and any(each.name == message.body[0] for each in watched)):
            stale.set()

    async def _read(self, bus: MessageBus) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for key, services in self._services.items():
            for service in services:
                reply = await _call(bus, service.name, service.path, _PROPERTIES, "GetAll", service.interface)
                if reply.message_type is MessageType.METHOD_RETURN and reply.signature == "a{sv}":
                    found[key] = {name: variant.value for name, variant in reply.body[0].items()}
                    break
        return found


def _log_unless_lost(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what nobody has awaited, unless it is a connection that is gone.

    A message that dbus-fast has not sent yet when the bus is closed fails so, in a future that only it knows. Who
    awaits the bus or an answer is told of a lost connection anyway.
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
    reply = await _call(bus, _BUS, "/org/freedesktop/DBus", _BUS, "AddMatch", f"type='signal',{rule}")
    if reply.message_type is MessageType.ERROR:
        # No change would be heard of: what is read now would count for good.
        said = " ".join([str(reply.error_name), *map(str, reply.body)])
        raise ConnectionRefusedError(f"it does not tell of changes: {said}")


async def _call(bus: MessageBus, name: str, path: str, interface: str, member: str, argument: str) -> Message:
    message = Message(destination=name, path=path, interface=interface, member=member, signature="s", body=[argument])
    reply = await asyncio.wait_for(bus.call(message), _LONGEST_CALL_S)
    if reply is None:
        raise ConnectionResetError("the bus has closed the connection")
    return reply
