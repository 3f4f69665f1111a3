"""The vendor's library, ``libQnnHtp.so`` or ``QnnHtp.dll``: votes as native calls."""

from __future__ import annotations

import ctypes
import operator
import weakref
from typing import TYPE_CHECKING

from htppower.backends.base import Description
from htppower.backends.forks import call_in_forked_children
from htppower.backends.qnn import abi
from htppower.backends.qnn.library import load_library, moves_clocks, operating_system
from htppower.backends.qnn.sharing import enter_device, idle_copies, leave_device, renew_device
from htppower.errors import BackendUnavailable, Unavailable, VoteRejected
from htppower.rules.platforms import ARCHITECTURES, Platform, find_soc
from htppower.rules.socs import SOCS
from htppower.votes.native_codes import DEVICE_INVALID_HANDLE, INVALID_INPUT
from htppower.votes.options import BY_FIELD, LARGEST_UINT32, VOTE_OPTIONS

if TYPE_CHECKING:
    import os

    from htppower.votes.vote_set import VoteSet

# A host may create new vote sets all the time; their structs must not fill the memory.
_MOST_VOTE_SETS = 1024
# A lookup by a plain tuple is twice as fast as by a vote set (measured).
_KEY = operator.attrgetter(*BY_FIELD)


class QnnHtp:
    """Votes through the vendor's library. Close it when no call is running.

    Native calls run on the caller's thread, without the interpreter's lock. Two backends on one library share its
    device and its ids: ``renew`` of either renews the device for both.

    Args:
        library: the library's path. Without it the copy that the process has loaded is used, or else the library is
            searched (docs: "Linux", "Android", "Windows").
        soc_model: the SoC to create the device for, by model number or part number. Omit it on a device: the library
            knows its SoC. It is a setting of the whole process.
        second_copy: search and load the library although this process has loaded another copy. Each copy has a link to
            the DSP, ids and settings of its own; copies of two releases may refuse each other's skel (1008, 14001).

    Raises:
        BackendUnavailable: the library can't be used; with the reason, and the steps of the search. ALREADY_LOADED: the
            library is named, and the process has loaded another file.
        UnknownPlatform: the part number is not in the tables.
    """

    def __init__(
        self,
        library: str | os.PathLike[str] | None = None,
        soc_model: int | str | None = None,
        *,
        second_copy: bool = False,
    ) -> None:
        model = find_soc(soc_model).model if isinstance(soc_model, str) else soc_model
        self._library = load_library(library, second_copy=second_copy, idle=idle_copies())
        self._device = enter_device(self._library, model)
        # The ids that this backend has created; it destroys them if the device outlives it.
        self._own_ids: set[int] = set()
        self._leave = weakref.finalize(self, leave_device, self._device, self._own_ids)
        # The ids that are alive, of all backends on the device.
        self._ids = self._device.ids
        self._description = self._describe(model)
        # Structs that no call uses now, by vote set.
        self._ready: dict[tuple[object, ...], list[_Structs]] = {}
        call_in_forked_children(QnnHtp._disown, self)

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id.

        Raises:
            VoteRejected: 13001 on an unknown device or core; 14000 after a failed ``renew``, or if closed; any other
                code of the library's.
        """
        function = "createPowerConfigId"
        core = (device_id, core_id)
        if not (self._leave.alive and self._device.has_device):
            raise VoteRejected(DEVICE_INVALID_HANDLE, function=function, core=core)
        if not (0 <= device_id <= LARGEST_UINT32 and 0 <= core_id <= LARGEST_UINT32):
            raise VoteRejected(INVALID_INPUT, function=function, core=core)
        # The library writes an id even if it refuses, so it is read after the check.
        created = ctypes.c_uint32()
        self._check(self._device.create_id(device_id, core_id, ctypes.byref(created)), function, core=core)
        self._ids.add(created.value)
        self._own_ids.add(created.value)
        return created.value

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Send a vote set in one call.

        Raises:
            VoteRejected: with the library's code; without a call 13001 for an unknown id, and 14000 after a ``renew``
                that failed.
        """
        if power_config_id not in self._ids:
            code = DEVICE_INVALID_HANDLE if self._lacks_device else INVALID_INPUT
            raise VoteRejected(code, votes, power_config_id=power_config_id)
        key = _KEY(votes)
        idle = self._ready.get(key)
        if idle is None:
            idle = self._add_key(key)
        # The structs are taken out during the call, so that threads share none and need no lock.
        try:
            structs = idle.pop()
        except IndexError:
            structs = _Structs(votes)
        if structs.with_id is not None:
            structs.with_id.contextId = power_config_id
        handle = self._device.set_config(power_config_id, structs.address)
        idle.append(structs)
        if handle:
            self._check(handle, "setPowerConfig", votes, power_config_id)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy an id and every vote on it. Nothing is called for an unknown id.

        Raises:
            VoteRejected: with the library's code, and the id is gone; without a call 14000 after a ``renew`` that
                failed.
        """
        function = "destroyPowerConfigId"
        if self._lacks_device:
            raise VoteRejected(DEVICE_INVALID_HANDLE, function=function, power_config_id=power_config_id)
        try:
            self._ids.remove(power_config_id)
        except KeyError:
            return
        try:
            handle = self._device.destroy_id(power_config_id)
        except BaseException:
            # Interrupted: the id may be gone or not, and destroying it twice is fine.
            self._ids.add(power_config_id)
            raise
        self._own_ids.discard(power_config_id)
        self._check(handle, function, power_config_id=power_config_id)

    def renew(self) -> None:
        """Free the device and create it again, for every backend on this library; all ids are gone.

        The ids are destroyed first, as long as the link carries the calls.

        Raises:
            BackendUnavailable: the device can't be created, and a later attempt may succeed; or the backend is closed.
        """
        if not self._leave.alive:
            message = f"{self._library.path} can't be renewed: this backend is closed"
            raise BackendUnavailable(Unavailable.DEVICE_CREATE_FAILED, message, code=DEVICE_INVALID_HANDLE)
        self._own_ids.clear()
        renew_device(self._device)

    def describe(self) -> Description:
        """Return the library, its file, and the platform that it reports."""
        return self._description

    def close(self) -> None:
        """Destroy the remaining ids and free device, backend and log, if no other backend has them. Twice is fine."""
        self._ids = set()
        self._leave()

    @property
    def _lacks_device(self) -> bool:
        """Whether a renewal has failed."""
        return self._leave.alive and not self._device.has_device

    def _disown(self) -> None:
        self._leave.detach()
        self._device.disown()

    def _add_key(self, key: tuple[object, ...]) -> list[_Structs]:
        if len(self._ready) >= _MOST_VOTE_SETS:
            self._ready.clear()
        return self._ready.setdefault(key, [])

    @staticmethod
    def _check(
        handle: int,
        function: str,
        votes: VoteSet | None = None,
        power_config_id: int | None = None,
        core: tuple[int, int] | None = None,
    ) -> None:
        """Raise an error if a call of the power infrastructure did not return 0. All such calls end here."""
        if handle:
            code = abi.code_of(handle)
            raise VoteRejected(code, votes, function=function, power_config_id=power_config_id, core=core)

    def _describe(self, model: int | None) -> Description:
        device, library = self._device, self._library
        first = device.devices[0] if device.devices else None
        if model is None and first is not None:
            model = first.soc_model
        soc = next((soc for soc in SOCS if soc.model == model), None)
        arch = soc.arch if soc is not None else first.arch if first is not None else None
        return Description(
            "qnn",
            f"{library.path}, build {device.build}, from {library.origin}",
            Platform(arch if arch in ARCHITECTURES else None, soc, operating_system()),
            hardware=moves_clocks(library.path),
            versions=(("build", device.build), ("core_api", device.core_api), ("htp_api", device.htp_api)),
            devices=device.devices,
            path=library.path,
            tried=library.tried,
        )


class _Structs:
    """The structs of a vote set, complete except for the power config id."""

    __slots__ = ("_held", "address", "with_id")

    def __init__(self, votes: VoteSet) -> None:
        structs = [abi.power_config(config) for config in votes.native(0)]
        pointers = abi.null_terminated(structs)
        abouts = [VOTE_OPTIONS[option] for option in votes.options]
        # At most one, since a list contains only one form of an HVX vote.
        with_id = [
            getattr(struct, about.member) for struct, about in zip(structs, abouts, strict=True) if about.has_context_id
        ]
        self.with_id = with_id[0] if with_id else None
        self.address = ctypes.addressof(pointers)
        self._held = (pointers, structs)
