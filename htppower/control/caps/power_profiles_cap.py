"""A cap by what the system wishes: it limits every session while its power profile, or its battery, says so.

``power-profiles-daemon`` says which profile a power menu or ``powerprofilesctl`` has set: on D-Bus it is
``org.freedesktop.UPower.PowerProfiles``, and was ``net.hadess.PowerProfiles`` before its version 0.20. UPower says
whether the device runs on its battery.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.caps.cap_arguments import check_bus, checked_conditions
from htppower.control.caps.cap_switch import CapSwitch
from htppower.control.context_manager import Closing
from htppower.errors import printable, shortened

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping

    from htppower.control.caps.system_bus import PropertyWatcher, Service
    from htppower.control.claims.holds import Cap
    from htppower.control.controller import VoteController
    from htppower.profiles.profile import Profile

_LOGGER = logging.getLogger("htppower.power_profiles")

_PROFILES = "profiles"
_BATTERY = "battery"
# What each condition is seen in: the daemon's profiles, its degradation, the battery.
_SEEN_IN = {
    "power-saver": _PROFILES,
    "balanced": _PROFILES,
    "degraded": _PROFILES,
    "on-battery": _BATTERY,
}
CONDITIONS = tuple(_SEEN_IN)


@attrs.frozen
class PowerProfilesStatus:
    """What a cap by power profiles heard last.

    Attributes:
        connected: whether the bus can be reached.
        active_profile: ``power-saver``, ``balanced`` or ``performance``; None where no daemon says so.
        performance_degraded: why the device can't keep its performance, as the daemon says it, such as
            ``lap-detected`` or ``high-operating-temperature``; empty where it can, None where no daemon says so.
        on_battery: whether it runs on its battery; None where UPower does not say so.
        capped: whether the cap is set, and its calls are made. While the bus can't be reached it stays as it was.
    """

    connected: bool = False
    active_profile: str | None = None
    performance_degraded: str | None = None
    on_battery: bool | None = None
    capped: bool = False


class PowerProfilesCap(Closing):
    """Caps every session of a controller while the system asks for less.

    It listens on D-Bus on a thread of its own, and sets the cap while any of the conditions holds:

    - ``power-saver``, ``balanced``: that power profile is active;
    - ``degraded``: the daemon says that performance is degraded;
    - ``on-battery``: the device runs on its battery.

    Its reason is the first of them that holds; where another comes to be the first, the cap is set again for that.
    Where a daemon does not run, its conditions do not hold: the system has no such wish. While the bus can't be reached
    the cap stays as it is; it is tried again every 5 s, and logged once.

    It ends by ``close``, on leaving a ``with`` block, or when the controller is closed; not when it is dropped.

    Args:
        controller: whose sessions it limits.
        profile: beyond which none goes while the cap is set: a name, a path or a profile.
        when: the conditions.
        bus: the address of the bus, such as ``unix:path=/run/dbus/system_bus_socket``; None for the system's.

    Raises:
        ImportError: dbus-fast is not installed.
        TypeError: the controller is none, or the bus no text.
        ValueError: a condition is none of these, or there is none.
        ProfileError: the profile can't be found, is invalid, or is refused on this platform.
        SessionClosed: the controller is closed.
    """

    def __init__(
        self,
        controller: VoteController,
        profile: str | os.PathLike[str] | Profile = "power_saver",
        *,
        when: str | Iterable[str] = ("power-saver",),
        bus: str | None = None,
    ) -> None:
        self._when = checked_conditions(when, CONDITIONS)
        check_bus(bus)
        watcher, services = _watching(self._when)
        self._heard = PowerProfilesStatus()
        # The conditions that nobody on the bus can tell, as far as that was logged.
        self._told_unseen: frozenset[str] = frozenset()
        self._watcher: PropertyWatcher | None = None
        self._switch = CapSwitch(controller, profile, "htppower-power-profiles", self._end)
        self._time = self._switch.time
        try:
            # Started once it is known: closing ends it whatever came between.
            self._watcher = watcher(services, self._hear_soon, bus)
            if self._switch.closed:
                self._end()
            self._watcher.start()
        except BaseException:
            # No thread could be started, or it was interrupted: nobody gets it, so nobody would close it.
            self._time.call_soon(self.close)
            self.close()
            raise

    @property
    def cap(self) -> Cap | None:
        """The cap, where it is set."""
        return self._switch.cap

    def status(self) -> PowerProfilesStatus:
        """Return what it heard last; wait for no native call."""
        return attrs.evolve(self._heard, capped=self.cap is not None)

    def close(self) -> None:
        """Lift the cap, and listen no more. Closing twice is fine."""
        self._switch.close()

    def _end(self) -> None:
        if self._watcher is not None:
            self._watcher.close()

    def _hear_soon(self, properties: Mapping[str, Mapping[str, Any]] | None) -> None:
        # A native call may hang; the thread of the bus must not.
        self._switch.post(lambda: self._hear(properties))

    def _hear(self, properties: Mapping[str, Mapping[str, Any]] | None) -> None:
        with self._switch.lock:
            if properties is None:
                self._heard = attrs.evolve(self._heard, connected=False)
                return
            self._heard = _status(properties)
            self._tell_unseen(properties)
            reason = reason_to_cap(self._heard, self._when)
            if reason is None:
                self._switch.lift()
            else:
                self._switch.set(reason)

    def _tell_unseen(self, properties: Mapping[str, object]) -> None:
        unseen = frozenset(each for each in self._when if _SEEN_IN[each] not in properties)
        for condition in sorted(unseen - self._told_unseen):
            _LOGGER.warning("no service on the bus tells of %r: it sets no cap until one does", condition)
        self._told_unseen = unseen


def reason_to_cap(heard: PowerProfilesStatus, when: Collection[str]) -> str | None:
    """Return why the cap is to be set by what was heard, or None."""
    if heard.active_profile is not None and heard.active_profile in when:
        return f"the system's power profile is {heard.active_profile}"
    if heard.performance_degraded and "degraded" in when:
        return f"performance is degraded: {heard.performance_degraded}"
    if heard.on_battery and "on-battery" in when:
        return "the device runs on its battery"
    return None


def _watching(when: Collection[str]) -> tuple[type[PropertyWatcher], dict[str, tuple[Service, ...]]]:
    """Return what follows services, and the services that tell of the conditions.

    Raises:
        ImportError: dbus-fast is not installed.
    """
    try:
        from htppower.control.caps.system_bus import PropertyWatcher, Service  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name != "dbus_fast":
            raise
        raise ImportError("PowerProfilesCap needs dbus-fast: install htppower with its extra 'dbus'") from error
    upower = "org.freedesktop.UPower"
    services = {
        _PROFILES: (
            Service(f"{upower}.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles", f"{upower}.PowerProfiles"),
            Service("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles", "net.hadess.PowerProfiles"),
        ),
        _BATTERY: (Service(upower, "/org/freedesktop/UPower", upower),),
    }
    return PropertyWatcher, {key: services[key] for key in sorted({_SEEN_IN[each] for each in when})}


def _said(value: object) -> str | None:
    """Return a word of a daemon, which reaches logs and terminals; None if it is not a text."""
    return printable(shortened(value)) if isinstance(value, str) else None


def _status(properties: Mapping[str, Mapping[str, Any]]) -> PowerProfilesStatus:
    profiles, battery = properties.get(_PROFILES, {}), properties.get(_BATTERY, {})
    active, degraded = profiles.get("ActiveProfile"), profiles.get("PerformanceDegraded")
    on_battery = battery.get("OnBattery")
    return PowerProfilesStatus(
        connected=True,
        active_profile=_said(active),
        performance_degraded=_said(degraded),
        on_battery=on_battery if isinstance(on_battery, bool) else None,
    )
