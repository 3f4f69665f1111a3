"""Votes as frozen values with the vendor's names: corners, options, vote sets, native codes. They validate nothing.

The names that are needed to build a profile in code can be imported from here; each is imported on first use.
May import nothing else of htppower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily

if TYPE_CHECKING:
    from htppower.votes.clock_votes import CENG_DEFAULT as CENG_DEFAULT
    from htppower.votes.clock_votes import CENG_EXP_DEFAULT as CENG_EXP_DEFAULT
    from htppower.votes.clock_votes import HMX_DEFAULT as HMX_DEFAULT
    from htppower.votes.clock_votes import Ceng as Ceng
    from htppower.votes.clock_votes import CengExp as CengExp
    from htppower.votes.clock_votes import DcvsV3 as DcvsV3
    from htppower.votes.clock_votes import DcvsV3Exp as DcvsV3Exp
    from htppower.votes.clock_votes import ExpandedRange as ExpandedRange
    from htppower.votes.clock_votes import HmxV2 as HmxV2
    from htppower.votes.clock_votes import VoltageRange as VoltageRange
    from htppower.votes.corners import ClkPerfMode as ClkPerfMode
    from htppower.votes.corners import ExpandedCorner as ExpandedCorner
    from htppower.votes.corners import PowerMode as PowerMode
    from htppower.votes.corners import VoltageCorner as VoltageCorner
    from htppower.votes.options import Option as Option
    from htppower.votes.vote_set import VoteSet as VoteSet

_EXPORTS = {
    "htppower.votes.clock_votes": (
        *("CENG_DEFAULT", "CENG_EXP_DEFAULT", "Ceng", "CengExp", "DcvsV3", "DcvsV3Exp"),
        *("ExpandedRange", "HMX_DEFAULT", "HmxV2", "VoltageRange"),
    ),
    "htppower.votes.corners": ("ClkPerfMode", "ExpandedCorner", "PowerMode", "VoltageCorner"),
    "htppower.votes.options": ("Option",),
    "htppower.votes.vote_set": ("VoteSet",),
}
__all__ = [name for names in _EXPORTS.values() for name in names]

if not TYPE_CHECKING:  # With a __getattr__, type checkers would accept any name.
    __getattr__ = exported_lazily(__name__, _EXPORTS)
