"""The meaning of each native code for the controller. No other module compares codes.

The sources are the answers of the device library to each failure of FastRPC (measured), and the headers of the SDK.
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.votes.native_codes import (
    DEVICE_INVALID_HANDLE,
    INVALID_INPUT,
    SUCCESS,
    SYSTEM_COMMUNICATION,
    SYSTEM_COMMUNICATION_FATAL,
    TRANSPORT,
    UNSUPPORTED,
    UNSUPPORTED_CONFIG,
)
from htppower.votes.options import PROCESS_WIDE

if TYPE_CHECKING:
    from htppower.errors import VoteRejected


class Meaning(enum.Enum):
    """The meaning of a call's code for the controller."""

    DONE = "the call succeeded"
    LOST = "the link was rebuilt: every vote is gone, the ids are still valid"
    DEAD = "the library does not rebuild the link by itself: the device must be created again"
    SUSPECT = "the call failed as on a dead link, but a healthy link may also give this answer"
    REFUSED = "this call failed, which says nothing about the link"
    ABSENT = "this platform does not have an option of the call"
    BAD_ID = "the library does not know the id, or the vote is not valid on it"


class CallKind(enum.Enum):
    """The kind of a call; the same code means different things for different kinds."""

    CREATE = "createPowerConfigId, which makes no remote call"
    VOTES = "votes of an id: the DSP answers"
    DESTROY = "destroyPowerConfigId: the DSP answers, unless the library has forgotten the id"
    SETTINGS = "settings of the process: FastRPC answers, and perhaps not the DSP"


_OF_ALL = MappingProxyType(
    {SUCCESS: Meaning.DONE, SYSTEM_COMMUNICATION: Meaning.LOST, SYSTEM_COMMUNICATION_FATAL: Meaning.DEAD}
)
_OF_AN_ID = MappingProxyType(
    {
        TRANSPORT: Meaning.SUSPECT,
        UNSUPPORTED_CONFIG: Meaning.ABSENT,
        UNSUPPORTED: Meaning.ABSENT,
        INVALID_INPUT: Meaning.BAD_ID,
        # The backend was closed, and its device took the ids with it.
        DEVICE_INVALID_HANDLE: Meaning.BAD_ID,
    }
)
_BY_KIND = MappingProxyType(
    {
        CallKind.CREATE: MappingProxyType({TRANSPORT: Meaning.SUSPECT}),
        CallKind.VOTES: _OF_AN_ID,
        # The library answers 0 for an id that it does not know. So a 13001 is another failure, and the id may still
        # exist.
        CallKind.DESTROY: MappingProxyType({code: means for code, means in _OF_AN_ID.items() if code != INVALID_INPUT}),
        # A FastRPC without polling answers 13006 to the setting. Votes on clocks still work.
        CallKind.SETTINGS: MappingProxyType(
            {
                UNSUPPORTED_CONFIG: Meaning.ABSENT,
                UNSUPPORTED: Meaning.ABSENT,
                INVALID_INPUT: Meaning.BAD_ID,
                DEVICE_INVALID_HANDLE: Meaning.BAD_ID,
            }
        ),
    }
)


def meaning(code: int, kind: CallKind = CallKind.VOTES) -> Meaning:
    """Return the meaning of a native code for a call of this kind."""
    return _OF_ALL.get(code) or _BY_KIND[kind].get(code, Meaning.REFUSED)


def kind_of(error: VoteRejected) -> CallKind:
    """Return the kind of the call that raised an error."""
    if error.function != "setPowerConfig":
        return CallKind.CREATE if error.function == "createPowerConfigId" else CallKind.DESTROY
    is_of_the_process = error.votes is not None and not PROCESS_WIDE.isdisjoint(error.votes.options)
    return CallKind.SETTINGS if is_of_the_process else CallKind.VOTES


def meaning_of(error: VoteRejected) -> Meaning:
    """Return what the error of a call means."""
    return meaning(error.code, kind_of(error))


def tells_of_a_lost_link(code: int) -> bool:
    """Return whether a code means that every vote is lost, if a call of the host returned it."""
    return meaning(code) in (Meaning.LOST, Meaning.DEAD)
