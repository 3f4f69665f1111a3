"""A cap that depends on services on D-Bus: the power profile (power-profiles-daemon), or the battery (UPower)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.caps.switched_cap import SwitchedCap, listed
from htppower.errors import printable, shortened

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping

    from htppower.control.caps.system_bus import PropertyWatcher
    from htppower.control.controller import VoteController
    from htppower.profiles.profile import Profile

_LOGGER = logging.getLogger("htppower.power_profiles")

# The services that report the profile (power-profiles-daemon from version 0.20 on, and the older name), and the
# battery.
_PROFILES, _BATTERY = "profiles", "battery"
_SERVICES = {
    _BATTERY: ("org.freedesktop.UPower",),
    _PROFILES: ("org.freedesktop.UPower.PowerProfiles", "net.hadess.PowerProfiles"),
}
_SEEN_IN = {"power-saver": _PROFILES, "balanced": _PROFILES, "degraded": _PROFILES, "on-battery": _BATTERY}
CONDITIONS = tuple(_SEEN_IN)


@attrs.frozen
class PowerProfilesStatus:
    """The last properties that a cap by power profiles has received.

    Attributes:
        connected: whether the bus can be reached.
        active_profile: ``power-saver``, ``balanced`` or ``performance``; None if no daemon reports a profile.
        performance_degraded: why the device can't keep its performance, such as ``lap-detected`` or
            ``high-operating-temperature``; empty if it can, None if no daemon reports it.
        on_battery: whether the device runs on its battery; None if UPower does not report it.
        capped: whether the cap is set, and its native calls are made. While the bus can't be reached, the cap stays as
            it was.
    """

    connected: bool = False
    active_profile: str | None = None
    performance_degraded: str | None = None
    on_battery: bool | None = None
    capped: bool = False


class PowerProfilesCap(SwitchedCap):
    """Caps every session of a controller while the system asks for less power.

    It listens on D-Bus on its own thread, and sets the cap while any of its conditions is true:

    - ``power-saver``, ``balanced``: that power profile is active;
    - ``degraded``: the daemon reports that performance is degraded;
    - ``on-battery``: the device runs on its battery.

    The reason of the cap is the first condition that is true; if another condition becomes the first, the cap is set
    again with the new reason. If a daemon does not run, its conditions are false. While the bus can't be reached the
    cap stays as it is; the bus is tried again every 5 s, and this is logged once.

    It ends by ``close``, on leaving a ``with`` block, or when the controller is closed; not when the object is garbage
    collected.

    Args:
        controller: the controller of the sessions.
        profile: the limit while the cap is set: a name, a path or a profile.
        when: the conditions.
        bus: the address of the bus, such as ``unix:path=/run/dbus/system_bus_socket``; None for the system bus.

    Raises:
        ImportError: dbus-fast is not installed.
        TypeError: the controller is not a VoteController, or the bus is not a text.
        ValueError: ``when`` is empty, or has an unknown condition.
        ProfileError, SessionClosed: for the same reasons as in ``VoteController.cap``.
    """

    def __init__(
        self,
        controller: VoteController,
        profile: str | os.PathLike[str] | Profile = "power_saver",
        *,
        when: str | Iterable[str] = ("power-saver",),
        bus: str | None = None,
    ) -> None:
        wanted = listed(when)
        unknown = sorted({repr(each) for each in wanted if each not in CONDITIONS})
        if unknown or not wanted:
            raise ValueError(f"when is {' and '.join(unknown) or 'empty'}: one or more of {', '.join(CONDITIONS)}")
        self._when = frozenset(wanted)
        if bus is not None and not isinstance(bus, str):
            raise TypeError(f"bus is {bus!r}: an address such as 'unix:path=/run/dbus/system_bus_socket', or None")
        watcher = _watcher()
        super().__init__(controller, profile)
        self._heard = PowerProfilesStatus()
        # The conditions that no service on the bus reports. Each is logged once.
        self._told_unseen: frozenset[str] = frozenset()
        services = {key: _SERVICES[key] for key in sorted({_SEEN_IN[each] for each in self._when})}
        self._watcher = watcher(services, self._hear, bus)
        self._join_controller()
        self._watcher.start()

    def status(self) -> PowerProfilesStatus:
        """Return the last properties, and whether the cap is set; wait for no native call."""
        return attrs.evolve(self._heard, capped=self.cap is not None)

    def _stop(self) -> None:
        self._watcher.close()

    def _hear(self, properties: Mapping[str, Mapping[str, Any]] | None) -> None:
        with self._lock:
            if properties is None:
                self._heard = attrs.evolve(self._heard, connected=False)
                return
            self._heard = _status(properties)
            unseen = frozenset(each for each in self._when if _SEEN_IN[each] not in properties)
            for condition in sorted(unseen - self._told_unseen):
                _LOGGER.warning("no service on the bus reports %r: it sets no cap until one does", condition)
            self._told_unseen = unseen
            self._switch(reason_to_cap(self._heard, self._when))


def reason_to_cap(heard: PowerProfilesStatus, when: Collection[str]) -> str | None:
    """Return the reason to set the cap, or None if no condition holds."""
    if heard.active_profile is not None and heard.active_profile in when:
        return f"the system's power profile is {heard.active_profile}"
    if heard.performance_degraded and "degraded" in when:
        return f"performance is degraded: {heard.performance_degraded}"
    if heard.on_battery and "on-battery" in when:
        return "the device runs on its battery"
    return None


def _watcher() -> type[PropertyWatcher]:
    try:
        from htppower.control.caps.system_bus import PropertyWatcher  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name != "dbus_fast":
            raise
        raise ImportError("PowerProfilesCap needs dbus-fast: install htppower with its extra 'dbus'") from error
    return PropertyWatcher


def _status(properties: Mapping[str, Mapping[str, Any]]) -> PowerProfilesStatus:
    profiles, on_battery = properties.get(_PROFILES, {}), properties.get(_BATTERY, {}).get("OnBattery")
    # Control characters are removed, since logs and terminals show these texts of the daemon.
    active, degraded = (
        printable(shortened(said)) if isinstance(said := profiles.get(name), str) else None
        for name in ("ActiveProfile", "PerformanceDegraded")
    )
    return PowerProfilesStatus(True, active, degraded, on_battery if isinstance(on_battery, bool) else None)
