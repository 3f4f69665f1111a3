"""A private system bus with the real power-profiles-daemon; polkit and UPower are mocks (dbusmock)."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAEMON = shutil.which("power-profiles-daemon", path=f"/usr/libexec:/usr/lib:{os.environ.get('PATH', '')}")
# dbusmock belongs to the system's Python.
PYTHON = "/usr/bin/python3"
WAIT_S = 60.0

_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>"""


def missing() -> str | None:
    """Return the name of a missing program that a private bus needs; None if all are installed."""
    for name in ("dbus-daemon", "dbus-send"):
        if shutil.which(name) is None:
            return name
    if DAEMON is None:
        return "power-profiles-daemon"
    asked = subprocess.run([PYTHON, "-c", "import dbusmock"], check=False, capture_output=True)
    return None if asked.returncode == 0 else "python3-dbusmock"


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; fail after a timeout that is far longer than needed."""
    end_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end_s, f"not within {WAIT_S:g} s: {what}"
        time.sleep(0.01)


@attrs.define
class PrivateBus:
    """A bus in a folder."""

    folder: Path
    _running: dict[str, subprocess.Popen[bytes]] = attrs.field(factory=dict)

    @property
    def socket(self) -> Path:
        """The path of the socket."""
        return self.folder / "bus"

    @property
    def address(self) -> str:
        """The address for clients."""
        return f"unix:path={self.socket}"

    def start(self) -> None:
        """Start the bus, a mock of polkit that allows everything, and a mock of UPower."""
        config = self.folder / "bus.conf"
        config.write_text(_CONFIG.format(socket=self.socket), encoding="utf-8")
        self._start("bus", "dbus-daemon", f"--config-file={config}", "--nofork")
        wait_until(self.socket.exists, "the bus listens")
        self._start("polkit", PYTHON, "-m", "dbusmock", "--system", "--template", "polkitd")
        self._start("upower", PYTHON, "-m", "dbusmock", "--system", "--template", "upower")
        self._wait_for_owner("org.freedesktop.PolicyKit1")
        self._wait_for_owner("org.freedesktop.UPower")
        self._send(
            "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
            "org.freedesktop.DBus.Mock.AllowUnknown", "boolean:true",
        )  # fmt: skip

    def start_daemon(self) -> None:
        """Start power-profiles-daemon; it begins with balanced, or with the profile of its last run."""
        assert DAEMON is not None
        self._start("daemon", DAEMON)
        self._wait_for_owner("net.hadess.PowerProfiles")

    def stop(self, name: str) -> None:
        """End one of: bus, polkit, upower, daemon."""
        process = self._running.pop(name)
        process.terminate()
        process.wait(WAIT_S)
        if name == "bus":
            self.socket.unlink(missing_ok=True)

    def stop_all(self) -> None:
        """End everything, the bus last."""
        for name in reversed(tuple(self._running)):
            self.stop(name)

    def set_profile(self, name: str) -> None:
        """Change the active power profile, as a power menu does."""
        self._set("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles", "ActiveProfile", f"string:{name}")

    def set_on_battery(self, *, value: bool) -> None:
        """Switch between battery and mains power."""
        self._set("org.freedesktop.UPower", "/org/freedesktop/UPower", "OnBattery", f"boolean:{str(value).lower()}")

    def _start(self, name: str, *command: str) -> None:
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            self._running[name] = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def _set(self, name: str, path: str, field: str, value: str) -> None:
        self._send(
            name, path, "org.freedesktop.DBus.Properties.Set", f"string:{name}", f"string:{field}", f"variant:{value}"
        )

    def _wait_for_owner(self, name: str) -> None:
        def is_owned() -> bool:
            asked = self._send(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", f"string:{name}"
            )
            return "boolean true" in asked

        wait_until(is_owned, f"{name} is on the bus")

    def _send(self, name: str, path: str, *message: str) -> str:
        command = ["dbus-send", f"--bus={self.address}", "--print-reply", f"--dest={name}", path, *message]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=WAIT_S).stdout
