"""The codes of FastRPC in the vendor's log: the meaning of each, and the mend.

The DSP adds 0x80000400 to its own codes: 0x80000406 is 0x6 from the DSP. The library keeps the low ten bits. Names and
meanings are from inc/AEEStdErr.h of https://github.com/qualcomm/fastrpc. The codes that the library returns were
measured with a stand-in for FastRPC (QAIRT 2.51).
"""

from __future__ import annotations

import enum
from typing import NamedTuple

SOURCE = "AEEStdErr.h of qualcomm/fastrpc; the codes that the library returns are measured, QAIRT 2.51"
# The DSP adds this to a code, and the library keeps these bits.
OF_DSP = 0x8000_0400
BITS = 0x3FF
WORD = 0xFFFF_FFFF


class Mend(enum.Enum):
    """What to do about a code. ``htppower doctor`` adds the line to type on this machine."""

    SKEL = (
        "put the folder of the skel (libQnnHtpV75Skel.so for V75) first in ADSP_LIBRARY_PATH, folders separated by "
        "';'; htppower doctor checks it"
    )
    UNSIGNED = "take the skel from a folder named unsigned/, of the release of the library"
    NODE = "check that /dev/fastrpc-cdsp is there and that this user may open it"
    DSP_DOWN = "wait for the DSP, which restarts or is down; htppower votes again when it is back"
    USERS = "close other users of the DSP"
    MEMORY = "check that this user may open /dev/dma_heap/system, and close other users of the DSP"
    UPDATE = "update FastRPC; without it votes on RPC polling are refused and clocks are still voted"
    RETRY = "try again"
    LOG = "look into the vendor's log, and into the kernel's (dmesg), for the line before it"


class FastRpcText(NamedTuple):
    """The name of a code, its reason, and the mend."""

    name: str
    why: str
    mend: Mend


FASTRPC_TEXTS: dict[int, FastRpcText] = {
    0x1: FastRpcText("AEE_EFAILED", "The call failed without a detailed reason.", Mend.LOG),
    0x2: FastRpcText("AEE_ENOMEMORY", "Memory ran out.", Mend.USERS),
    0x4: FastRpcText("AEE_EVERSIONNOTSUPPORT", "The skel asks for another version of FastRPC.", Mend.SKEL),
    0x6: FastRpcText("AEE_EUNABLETOLOAD", "The skel is missing, or can't be loaded.", Mend.SKEL),
    0xC: FastRpcText("AEE_EEXPIRED", "The call took too long, or the process on the DSP has ended.", Mend.DSP_DOWN),
    0xD: FastRpcText("AEE_EBADSTATE", "The process on the DSP has crashed, or was never there.", Mend.DSP_DOWN),
    0xE: FastRpcText("AEE_EBADPARM", "The call does not accept one of the arguments.", Mend.LOG),
    0x14: FastRpcText(
        "AEE_EUNSUPPORTED",
        "This FastRPC, its kernel driver or the DSP's firmware does not have the call.",
        Mend.UPDATE,
    ),
    0x15: FastRpcText("AEE_EPRIVLEVEL", "This process has too few rights.", Mend.NODE),
    0x16: FastRpcText("AEE_ERESOURCENOTFOUND", "A file that the DSP asks for is not found.", Mend.SKEL),
    0x27: FastRpcText("AEE_ENOSUCH", "The target of the call is gone: the DSP restarted.", Mend.DSP_DOWN),
    0x2B: FastRpcText("AEE_ENOTALLOWED", "This process may not make the call.", Mend.NODE),
    0x2C: FastRpcText("AEE_EINVHANDLE", "The handle is unknown: the link was closed.", Mend.DSP_DOWN),
    0x2E: FastRpcText("AEE_EINTERRUPTED", "A signal interrupted the call.", Mend.RETRY),
    0x38: FastRpcText("AEE_EINVALIDSIGNATURE", "The signature of the skel is not valid on this device.", Mend.UNSIGNED),
    0x3B: FastRpcText("AEE_EINVALIDDEVICE", "The device file of the DSP can't be opened.", Mend.NODE),
    0x42: FastRpcText("AEE_ENOSUCHSYMBOL", "The skel needs a function that no library on the DSP has.", Mend.SKEL),
    0x43: FastRpcText("AEE_ENOSUCHDEVICE", "There is no device file of the DSP.", Mend.NODE),
    0x45: FastRpcText("AEE_ENOSUCHFILE", "The skel, or a library that it needs, is missing.", Mend.SKEL),
    0x4E: FastRpcText("AEE_EBADPERMS", "This process may not open the device file of the DSP.", Mend.NODE),
    0x52: FastRpcText("AEE_EBADELF", "The skel is not a library for this Hexagon.", Mend.SKEL),
    0x56: FastRpcText("AEE_EIOCTL", "The kernel's driver refused the call.", Mend.LOG),
    0x57: FastRpcText("AEE_EFOPEN", "A file can't be opened: mostly the device file of the DSP.", Mend.NODE),
    0x65: FastRpcText("AEE_EMMAP", "Memory can't be shared with the DSP.", Mend.MEMORY),
    0x66: FastRpcText("AEE_EIONMAP", "Memory can't be shared with the DSP.", Mend.MEMORY),
    0x67: FastRpcText("AEE_EIONALLOC", "No memory that can be shared with the DSP.", Mend.MEMORY),
    0x68: FastRpcText(
        "AEE_ECONNRESET", "The link to the DSP was reset: the DSP restarted. The library returns 1007.", Mend.DSP_DOWN
    ),
    0x69: FastRpcText("AEE_ENOROOTOFTRUST", "The device has nothing to check a signed skel with.", Mend.UNSIGNED),
    0x72: FastRpcText("AEE_ECONNREFUSED", "The DSP does not answer: it is down, or restarts.", Mend.DSP_DOWN),
    0x81: FastRpcText("AEE_EUNSIGNEDMOD", "The skel is not signed, and this process domain needs it.", Mend.UNSIGNED),
    0x82: FastRpcText("AEE_EINVALIDHASH", "The skel is not signed for this device.", Mend.UNSIGNED),
    0x8A: FastRpcText("AEE_ENOSESSION", "All sessions of the DSP are in use.", Mend.USERS),
    0x200: FastRpcText("AEE_ERPC", "FastRPC itself failed.", Mend.LOG),
    0x201: FastRpcText("AEE_EFILE", "FastRPC can't read a file.", Mend.SKEL),
    BITS: FastRpcText("AEE_EUNKNOWN", "The call failed without a reason: -1, of which ten bits are left.", Mend.LOG),
}


def fastrpc_code(number: int, *, bare: bool = True) -> int | None:
    """Return the known code of FastRPC in a number of 32 bits, signed or unsigned; None if it has none.

    Args:
        number: the number.
        bare: whether a code counts without the bits that the DSP adds.
    """
    word = number & WORD
    of_dsp = word & (WORD & ~BITS) == OF_DSP
    plain = BITS if word == WORD else word & BITS if of_dsp else word
    return plain if plain in FASTRPC_TEXTS and (of_dsp or bare) else None
