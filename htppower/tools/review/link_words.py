"""The states of the link to the DSP in words. Commands that load no events do not import this module."""

from __future__ import annotations

from htppower.events import LinkState

LINK_MEANINGS = {
    LinkState.WELL: "the DSP answers calls",
    LinkState.LOST: "the link was rebuilt, and every vote was lost; they are sent again",
    LinkState.SUSPECT: "a call failed as on a dead link; it is retried with back-off",
    LinkState.DEAD: "the library does not rebuild the link; the device is created again, with back-off",
    LinkState.HELD: "a new device did not help: another user of the library in the process keeps the dead link",
}
