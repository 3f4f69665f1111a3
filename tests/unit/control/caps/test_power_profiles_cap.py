"""The cap by power profiles, on a watcher that reports what the test sets."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.hanging import WAIT_S, HangingHtp, join, started
from support.inside import patch_private

from htppower import PowerProfilesCap, ProfileError, SessionClosed, VoteController
from htppower.control.caps.power_profiles_cap import CONDITIONS, PowerProfilesStatus, reason_to_cap
from htppower.events import CapLifted, CapSet
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from support.bench import Bench

system_bus = pytest.importorskip(
    "htppower.control.caps.system_bus", reason="dbus-fast is not installed", exc_type=ImportError
)

REAL_WATCHER = system_bus.PropertyWatcher
Properties = dict[str, dict[str, Any]]


class Watcher:
    """Stands in for the watcher of the bus; the test reports changes by ``tell``."""

    made: Watcher

    def __init__(
        self,
        services: Mapping[str, tuple[Any, ...]],
        changed: Callable[[Properties | None], object],
        address: str | None,
    ) -> None:
        self.keys = tuple(services)
        self.tell = changed
        self.address = address
        self.started = self.closed = 0
        Watcher.made = self

    def start(self) -> None:
        """Count the starts."""
        self.started += 1

    def close(self) -> None:
        """Count the closes."""
        self.closed += 1


@pytest.fixture(autouse=True)
def _watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_bus, "PropertyWatcher", Watcher)


def profiles(active: str, degraded: str = "") -> Properties:
    """Return the report of a power profiles daemon."""
    return {"profiles": {"ActiveProfile": active, "PerformanceDegraded": degraded}}


def test_it_caps_in_power_saver_and_lifts_elsewhere(bench: Bench) -> None:
    """Each change of the system's profile has an effect at once. By default only power-saver sets the cap."""
    session = bench.controller.session("burst")
    with session.inference(), PowerProfilesCap(bench.controller, "balanced") as cap:
        for active, name in (
            ("power-saver", "balanced"),
            ("performance", "burst"),
            ("balanced", "burst"),
            ("power-saver", "balanced"),
        ):
            Watcher.made.tell(profiles(active))
            assert session.profile.name == name, active
            assert cap.status() == PowerProfilesStatus(
                connected=True, active_profile=active, performance_degraded="", capped=name == "balanced"
            )
        assert [each.reason for each in bench.controller.caps] == ["the system's power profile is power-saver"]
    assert bench.controller.caps == ()
    assert Watcher.made.closed == 1


@pytest.mark.parametrize(
    ("heard", "holding"),
    [
        (PowerProfilesStatus(connected=True), set[str]()),
        (PowerProfilesStatus(connected=True, active_profile="power-saver"), {"power-saver"}),
        (PowerProfilesStatus(connected=True, active_profile="balanced"), {"balanced"}),
        (PowerProfilesStatus(connected=True, active_profile="performance", performance_degraded=""), set[str]()),
        (
            PowerProfilesStatus(connected=True, active_profile="performance", performance_degraded="lap-detected"),
            {"degraded"},
        ),
        (PowerProfilesStatus(connected=True, on_battery=False), set[str]()),
        (PowerProfilesStatus(connected=True, on_battery=True), {"on-battery"}),
    ],
)
def test_each_condition_holds_by_what_was_heard(heard: PowerProfilesStatus, holding: set[str]) -> None:
    """Only the requested conditions set a cap; the performance profile never does."""
    assert {each for each in CONDITIONS if reason_to_cap(heard, {each}) is not None} == holding
    assert (reason_to_cap(heard, CONDITIONS) is not None) is bool(holding)


@pytest.mark.parametrize(
    ("when", "keys"),
    [("on-battery", ("battery",)), (("degraded", "balanced"), ("profiles",)), (CONDITIONS, ("battery", "profiles"))],
)
def test_it_asks_only_what_it_needs(bench: Bench, when: Any, keys: tuple[str, ...]) -> None:
    """The cap reads only the properties of its own conditions, on the bus that the caller named."""
    PowerProfilesCap(bench.controller, when=when, bus="unix:path=/nowhere").close()
    assert (Watcher.made.keys, Watcher.made.address) == (keys, "unix:path=/nowhere")


def test_without_the_bus_the_cap_stays_as_it_is(bench: Bench) -> None:
    """Without the bus, the cap is neither set nor lifted."""
    with PowerProfilesCap(bench.controller) as cap:
        Watcher.made.tell(None)
        assert cap.cap is None
        Watcher.made.tell(profiles("power-saver"))
        Watcher.made.tell(None)
        assert cap.cap is not None
        assert cap.status() == PowerProfilesStatus(
            connected=False, active_profile="power-saver", performance_degraded="", capped=True
        )


def test_status_waits_for_no_native_call() -> None:
    """If the cap's native call hangs, status still returns: it has the new profile, and the cap as not set yet."""
    htp = HangingHtp()
    controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False)
    session = controller.session("burst")
    with session.inference():
        cap = PowerProfilesCap(controller)
        hang = htp.hang_next("setPowerConfig", session.power_config_ids[0])
        tells = started(lambda: Watcher.made.tell(profiles("power-saver")))
        assert hang.begun.wait(WAIT_S)
        heard = cap.status()
        hang.let_go.set()
        join(*tells)
        assert (heard.active_profile, heard.capped) == ("power-saver", False)
        assert cap.status().capped
    controller.close()


def test_a_daemon_that_is_gone_has_no_wish(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """If the daemon stops, the cap is lifted, and one warning is logged until a daemon is back."""
    with PowerProfilesCap(bench.controller) as cap, caplog.at_level(logging.WARNING, "htppower.power_profiles"):
        Watcher.made.tell(profiles("power-saver"))
        Watcher.made.tell({})
        Watcher.made.tell({})
        assert cap.cap is None
        Watcher.made.tell(profiles("power-saver"))
        assert cap.cap is not None
    assert [record.getMessage() for record in caplog.records] == [
        "no service on the bus reports 'power-saver': it sets no cap until one does"
    ]


def test_values_of_another_type_are_unknown(bench: Bench) -> None:
    """A property of the wrong type sets no cap and raises no error."""
    with PowerProfilesCap(bench.controller, when=CONDITIONS) as cap:
        Watcher.made.tell({"profiles": {"ActiveProfile": 5, "PerformanceDegraded": 1}, "battery": {"OnBattery": "yes"}})
        assert cap.status() == PowerProfilesStatus(connected=True)


def test_a_cap_has_the_reason_that_holds_now(bench: Bench) -> None:
    """If one reason replaces another, the new cap is set before the old one is lifted, so no vote is sent."""
    saver, battery = "the system's power profile is power-saver", "the device runs on its battery"
    told: list[tuple[type, str]] = []
    bench.controller.subscribe(lambda event: told.append((type(event), event.reason)), (CapSet, CapLifted))  # type: ignore[attr-defined]
    session = bench.controller.session("burst")
    with session.inference(), PowerProfilesCap(bench.controller, "balanced", when=("power-saver", "on-battery")):
        Watcher.made.tell({**profiles("power-saver"), "battery": {"OnBattery": True}})
        Watcher.made.tell({**profiles("power-saver"), "battery": {"OnBattery": False}})
        assert told == [(CapSet, saver)]
        bench.recorder.clear()
        Watcher.made.tell({**profiles("balanced"), "battery": {"OnBattery": True}})
        assert told == [(CapSet, saver), (CapSet, battery), (CapLifted, saver)]
        assert [each.reason for each in bench.controller.caps] == [battery]
        assert bench.recorder.calls == ()
    assert (bench.controller.caps, told[3:]) == ((), [(CapLifted, battery)])


def test_it_ends_with_its_controller(bench: Bench) -> None:
    """After the controller is closed, a report from the bus changes nothing."""
    cap = PowerProfilesCap(bench.controller)
    Watcher.made.tell(profiles("power-saver"))
    bench.controller.close()
    assert (cap.cap, Watcher.made.closed) == (None, 1)
    Watcher.made.tell(profiles("power-saver"))
    assert cap.cap is None
    with pytest.raises(SessionClosed):
        PowerProfilesCap(bench.controller)


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("performance", "when is 'performance': one or more of power-saver, balanced, degraded, on-battery"),
        (("power-saver", 5), "when is 5: one or more of power-saver, balanced, degraded, on-battery"),
        ((), "when is empty: one or more of power-saver, balanced, degraded, on-battery"),
        (None, "when is None: one or more of power-saver, balanced, degraded, on-battery"),
        (([],), r"when is \[\]: one or more of power-saver, balanced, degraded, on-battery"),
    ],
)
def test_a_condition_that_is_none_is_refused(bench: Bench, when: Any, said: str) -> None:
    """The error names the unknown condition and lists the known ones; nothing is left behind."""
    with pytest.raises(ValueError, match=f"^{said}$"):
        PowerProfilesCap(bench.controller, when=when)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"controller": None}, r"controller is None, which has no cap\(\): a VoteController"),
        ({"bus": 5}, "bus is 5: an address such as 'unix:path=/run/dbus/system_bus_socket', or None"),
    ],
)
def test_an_argument_of_another_type_is_named(
    bench: Bench, options: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the argument and the type it needs; the bus is not opened."""
    monkeypatch.delattr(Watcher, "made", raising=False)
    with pytest.raises(TypeError, match=f"^{said}$"):
        PowerProfilesCap(**{"controller": bench.controller, **options})
    assert not hasattr(Watcher, "made")


def test_a_profile_that_is_none_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong profile is refused before the bus is opened."""
    monkeypatch.delattr(Watcher, "made", raising=False)
    with pytest.raises(ProfileError):
        PowerProfilesCap(bench.controller, "no_such_profile")
    assert not hasattr(Watcher, "made")


def test_without_dbus_fast_it_says_what_to_install(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dbus-fast, the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "dbus_fast", None)
    monkeypatch.delitem(sys.modules, "htppower.control.caps.system_bus")
    with pytest.raises(ImportError, match="install htppower with its extra 'dbus'"):
        PowerProfilesCap(bench.controller)


def test_what_a_daemon_says_does_nothing_to_a_terminal(bench: Bench) -> None:
    """Control characters in a daemon's text are escaped, and a long text is cut."""
    with PowerProfilesCap(bench.controller, "balanced", when=("degraded",)) as cap:
        Watcher.made.tell(profiles("performance\x1b", f"\x1b[31m\n{'x' * 5_000}"))
        status = cap.status()
        assert cap.cap is not None
        assert cap.cap.reason.startswith("performance is degraded: \\x1b[31m\\nxxx")
    assert status.active_profile == "performance\\x1b"
    assert status.performance_degraded is not None
    assert status.performance_degraded.isprintable()
    assert len(status.performance_degraded) < 300


def test_a_bus_that_never_answers_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If a bus accepts the connection but never answers, connecting times out, and one WARNING is logged."""
    patch_private(monkeypatch, system_bus, LONGEST_CONNECT_S=0.02)
    patch_private(monkeypatch, system_bus, RECONNECT_S=0.01)
    lost, told = threading.Event(), []

    def changed(properties: object) -> None:
        told.append(properties)
        if len(told) == 3:
            lost.set()

    with socket.socket(socket.AF_UNIX) as silent, caplog.at_level(logging.WARNING, "htppower.power_profiles"):
        silent.bind(str(tmp_path / "bus"))
        silent.listen(50)
        watcher = REAL_WATCHER({}, changed, f"unix:path={tmp_path / 'bus'}")
        watcher.start()
        assert lost.wait(WAIT_S)
        watcher.close()
    assert set(told) == {None}
    (record,) = caplog.records
    assert "it accepts a connection, and does not answer within 0.02 s" in record.getMessage()
