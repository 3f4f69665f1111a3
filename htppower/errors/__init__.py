"""The errors of htppower: one root and a few subclasses. Each says what is wrong, where, and what to do.

Also findings: the problems that are reported about a file. May import votes.
"""

from htppower.errors.finding import Finding as Finding
from htppower.errors.finding import KeyPath as KeyPath
from htppower.errors.finding import Place as Place
from htppower.errors.finding import Severity as Severity
from htppower.errors.finding import bounded as bounded
from htppower.errors.finding import located as located
from htppower.errors.finding import place_of as place_of
from htppower.errors.finding import printable as printable
from htppower.errors.finding import shortened as shortened
from htppower.errors.native import BackendUnavailable as BackendUnavailable
from htppower.errors.native import CallUnderWay as CallUnderWay
from htppower.errors.native import CloseTimedOut as CloseTimedOut
from htppower.errors.native import Step as Step
from htppower.errors.native import Unavailable as Unavailable
from htppower.errors.native import VoteRejected as VoteRejected
from htppower.errors.native import kept as kept
from htppower.errors.native import without_frames as without_frames
from htppower.errors.root import HtpPowerError as HtpPowerError
from htppower.errors.root import PhaseMisuse as PhaseMisuse
from htppower.errors.root import Problem as Problem
from htppower.errors.root import ProfileError as ProfileError
from htppower.errors.root import RuleBreach as RuleBreach
from htppower.errors.root import SessionClosed as SessionClosed
from htppower.errors.root import TraceError as TraceError
from htppower.errors.root import UnreadableFile as UnreadableFile
from htppower.errors.root import VoteTestError as VoteTestError
