"""Runs the service until it is cancelled, with the caps of its file."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import TYPE_CHECKING

from htppower.control.caps.power_profiles_cap import PowerProfilesCap
from htppower.control.caps.thermal_cap import ThermalCap
from htppower.hosts.service.connection import Connection
from htppower.hosts.service.listening import CantServeError, listen
from htppower.hosts.service.users import Users
from htppower.hosts.service.voting import Voting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.control.controller import VoteController
    from htppower.hosts.service.limits import ServiceFile
    from htppower.hosts.service.listening import Listening
    from htppower.profiles.cache import ProfileCache


async def serve(
    controller: VoteController,
    file: ServiceFile,
    profiles: ProfileCache,
    profile_names: Iterable[str],
    listening: Listening,
    told: Callable[[str], object],
) -> None:
    """Vote for clients until this is cancelled; then disconnect them, which lowers their votes.

    Args:
        controller: sends the votes; the caller closes it afterwards.
        file: what users may have, and the caps on all leases.
        profiles: finds profiles by name.
        profile_names: the names that a client is told.
        listening: where to listen.
        told: called once with the place, in words, as soon as clients can connect.

    Raises:
        CantServeError: the place is taken or can't be used, or a cap of the file can't be set here.
    """
    voting, users = Voting(controller, file.fields.service, profiles, profile_names), Users(file)
    with contextlib.ExitStack() as parts:
        _set_caps(controller, file, parts)
        try:
            async with listen(listening, functools.partial(Connection, voting, users)) as place:
                told(place)
                await asyncio.get_running_loop().create_future()
        finally:
            users.disconnect()
            # The loop tells each connection that it is lost before it runs what comes after this.
            await asyncio.sleep(0)
            await voting.close()


def _set_caps(controller: VoteController, file: ServiceFile, parts: contextlib.ExitStack) -> None:
    fields = file.fields
    if fields.power_saver_cap is not None:
        with _named("power_saver_cap"):
            parts.enter_context(PowerProfilesCap(controller, file.names[fields.power_saver_cap]))
    if (thermal := fields.thermal_cap) is not None:
        profile = file.names[thermal.profile]
        with _named("thermal_cap"):
            cap = ThermalCap(controller, profile, above_c=thermal.above_c, below_c=thermal.below_c, zones=thermal.zones)
            parts.enter_context(cap)


@contextlib.contextmanager
def _named(field: str) -> Iterator[None]:
    """Name the field of the file in the error of a cap that can't be set here."""
    try:
        yield
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        raise CantServeError(f"{field} can't be used here: {error}; leave it out otherwise") from None
