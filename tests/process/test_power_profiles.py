"""The cap by power profiles, on a real bus with the real power-profiles-daemon."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from support.inside import patch_private
from support.private_bus import PrivateBus, missing, wait_until

from htppower import PowerProfilesCap, VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

system_bus = pytest.importorskip(
    "htppower.control.caps.system_bus", reason="dbus-fast is not installed", exc_type=ImportError
)
_MISSING = missing()


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[PrivateBus]:
    """Yield a bus with the daemon on it; end both afterwards."""
    made = PrivateBus(tmp_path)
    try:
        made.start()
        made.start_daemon()
        yield made
    finally:
        made.stop_all()


@pytest.mark.skipif(_MISSING is not None, reason=f"{_MISSING} is not installed")
def test_it_follows_the_real_daemon(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cap follows the power menu, the plug, a restarted daemon, and a restarted bus."""
    patch_private(monkeypatch, system_bus, RECONNECT_S=0.1)
    bus.set_profile("balanced")
    with (
        VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as controller,
        PowerProfilesCap(controller, "balanced", when=("power-saver", "on-battery"), bus=bus.address) as cap,
    ):
        session = controller.session("burst")
        wait_until(lambda: cap.status().active_profile == "balanced", "the profile at the start is heard")
        assert cap.status().on_battery is False
        assert session.profile.name == "burst"

        bus.set_profile("power-saver")
        wait_until(lambda: session.profile.name == "balanced", "power-saver caps")
        bus.set_profile("balanced")
        wait_until(lambda: session.profile.name == "burst", "balanced lifts")

        bus.set_on_battery(value=True)
        wait_until(lambda: cap.status().capped, "the battery caps")
        assert [each.reason for each in controller.caps] == ["the device runs on its battery"]
        bus.set_on_battery(value=False)
        wait_until(lambda: not cap.status().capped, "the plug lifts")

        bus.set_profile("power-saver")
        wait_until(lambda: cap.status().capped, "power-saver caps again")
        bus.stop("daemon")
        wait_until(lambda: not cap.status().capped, "without the daemon the system has no wish")
        assert cap.status().active_profile is None
        bus.start_daemon()
        bus.set_profile("power-saver")
        wait_until(lambda: cap.status().capped, "the daemon is heard when it is back")

        bus.stop("bus")
        wait_until(lambda: not cap.status().connected, "the end of the bus is noticed")
        assert cap.status().capped
        bus.stop_all()
        bus.start()
        wait_until(lambda: cap.status().connected and not cap.status().capped, "the bus is heard when it is back")
    assert controller.caps == ()


def test_a_bus_that_is_not_there_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No cap is set, nothing is raised, and one line is logged for any number of tries."""
    patch_private(monkeypatch, system_bus, RECONNECT_S=0.001)
    told: list[object] = []
    watcher = system_bus.PropertyWatcher({}, told.append, f"unix:path={tmp_path / 'nowhere'}")
    watcher.start()
    wait_until(lambda: len(told) > 5, "it tries again")
    watcher.close()
    assert set(told) == {None}
    assert [record.name for record in caplog.records] == ["htppower.power_profiles"]


class _Bus:
    """A bus that stays until it is closed."""

    def __init__(self, *_: object) -> None:
        self.disconnect = self.add_message_handler = lambda *_: None

    async def connect(self) -> _Bus:
        """Connect."""
        return self

    async def wait_for_disconnect(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()


class _Deaf(_Bus):
    """A bus that answers, but refuses the match rule for its changes."""

    async def call(self, message: Any) -> Any:
        """Answer."""
        refused = message.member == "AddMatch"
        kind = system_bus.MessageType.ERROR if refused else system_bus.MessageType.METHOD_RETURN
        name = "org.freedesktop.DBus.Error.LimitsExceeded" if refused else None
        body: list[Any] = ["too many rules"] if refused else [{}]
        return system_bus.Message(
            message_type=kind, reply_serial=1, error_name=name, signature="s" if refused else "a{sv}", body=body
        )


def test_a_bus_that_would_not_tell_of_changes_is_as_one_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without changes a cap would keep its first value, so nothing is read, and the connection is retried."""
    patch_private(monkeypatch, system_bus, RECONNECT_S=0.001)
    monkeypatch.setattr(system_bus, "MessageBus", _Deaf)
    told: list[object] = []
    watcher = system_bus.PropertyWatcher({"battery": ("a.b",)}, told.append, None)
    watcher.start()
    wait_until(lambda: len(told) > 2 or {} in told or {"battery": {}} in told, "it is told something")
    watcher.close()
    assert set(map(str, told)) == {"None"}
    assert ["too many rules" in record.message for record in caplog.records] == [True]


class _Odd(_Bus):
    """A bus with a service that answers with a text instead of properties."""

    async def call(self, message: Any) -> Any:
        """Answer."""
        odd = message.destination == "odd.one"
        signature, body = "s" if odd else "a{sv}", ["power-saver" if odd else {}]
        return system_bus.Message(
            message_type=system_bus.MessageType.METHOD_RETURN, reply_serial=1, signature=signature, body=body
        )


def test_an_answer_of_another_type_is_as_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Services with a right answer still count, also another service with the same properties."""
    monkeypatch.setattr(system_bus, "MessageBus", _Odd)
    odd, good = "odd.one", "good.one"
    told: list[object] = []
    watcher = system_bus.PropertyWatcher({"x": (odd,), "y": (odd, good), "z": (good,)}, told.append, None)
    watcher.start()
    wait_until(lambda: bool(told), "it is told something")
    watcher.close()
    assert (told[0], caplog.messages) == ({"y": {}, "z": {}}, [])


@pytest.mark.parametrize(("error", "logged"), [(OSError(9, "gone"), False), (LookupError("a defect"), True)])
def test_a_message_that_was_not_sent_in_time_is_not_logged(
    error: Exception, logged: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If the bus is closed, the failure of dbus-fast's unsent message is not logged; other unawaited failures are."""
    told: list[object] = []

    def leave(properties: object) -> None:
        future = asyncio.get_running_loop().create_future()
        future.set_exception(error)
        del future
        told.append(properties)

    watcher = system_bus.PropertyWatcher({}, leave, f"unix:path={tmp_path / 'nowhere'}")
    watcher.start()
    wait_until(lambda: bool(told), "it is told that there is no bus")
    watcher.close()
    assert ("asyncio" in [record.name for record in caplog.records]) is logged
