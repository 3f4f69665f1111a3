"""The devices that this process has open: one for each library and SoC model, shared by all its users.

All device handles of a process share one link to the DSP. Only if each of them is freed does the library open a new
link (measured). So two backends on one library have one handle, and one of them can renew it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from htppower.backends.forks import call_in_forked_children
from htppower.backends.qnn.device import OpenDevice
from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from htppower.backends.qnn.library import Library


class _Process:
    """The open devices of this process, by the number of the library and the SoC model.

    Attributes:
        lock: is held while a device is opened, renewed or left. It is reentrant, since the garbage collector may run
            ``leave_device`` at any time.
        loaded_here: the numbers of the libraries that htppower has loaded. They stay loaded.
    """

    def __init__(self) -> None:
        self.loaded_here: set[int] = set()
        self.start_anew()

    def start_anew(self) -> None:
        """In a forked child, forget the devices: they belong to the parent, whose threads may hold the lock."""
        self.lock = whole_lock()
        self.devices: weakref.WeakValueDictionary[tuple[int, int | None], OpenDevice] = weakref.WeakValueDictionary()


_PROCESS = _Process()
call_in_forked_children(_Process.start_anew, _PROCESS)


def enter_device(library: Library, soc_model: int | None) -> OpenDevice:
    """Return the open device of a library for an additional user; ``leave_device`` returns it.

    Raises:
        BackendUnavailable: it can't be opened.
    """
    key = (library.number, soc_model)
    with _PROCESS.lock:
        if library.loaded_here:
            _PROCESS.loaded_here.add(library.number)
        device = _PROCESS.devices.get(key)
        if device is None or not device.alive:
            device = OpenDevice(library, soc_model)
            _PROCESS.devices[key] = device
        elif not device.has_device:
            device.renew()
        device.users += 1
        return device


def idle_copies() -> frozenset[int]:
    """Return the numbers of the libraries that htppower has loaded, and that have no open device."""
    with _PROCESS.lock:
        opened, loaded_here = list(_PROCESS.devices.items()), frozenset(_PROCESS.loaded_here)
    return loaded_here - {number for (number, _), device in opened if device.alive}


def renew_device(device: OpenDevice) -> None:
    """Free the device and create it again, for all its users.

    Raises:
        BackendUnavailable: it can't be created again.
    """
    with _PROCESS.lock:
        device.renew()


def leave_device(device: OpenDevice, own_ids: set[int]) -> None:
    """Destroy the ids of a leaving user, and free the device with its last user."""
    with _PROCESS.lock:
        device.users -= 1
        if device.users > 0:
            device.destroy(own_ids)
        else:
            device.close()
