"""What each state of the link to the DSP means, in a line."""

from __future__ import annotations

from htppower.events import LinkState

LINK_MEANINGS = {
    LinkState.WELL: "the DSP answers calls",
    LinkState.LOST: "the link was rebuilt, and every vote was lost; they are cast again",
    LinkState.SUSPECT: "a call failed as it does on a dead link; it is tried again, with back-off",
    LinkState.DEAD: "the library does not rebuild the link; the device is made anew, with back-off",
    LinkState.HELD: "a new device did not help: another user of the library in the process keeps the dead link",
}
