"""The rules of advice, as data, and their answers: advice with its evidence, or why there is none.

Unless a rule is marked as documented, it is inferred from the meaning of the events.
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.tools.review.advice.measurement import Measurement


class Basis(str, enum.Enum):
    """The basis of a rule."""

    DOCUMENTED = "documented"
    INFERRED = "inferred"

    __str__ = str.__str__


@attrs.frozen
class AdviceRule:
    """One rule.

    Attributes:
        id: its name in advice and in the documentation.
        says: the finding, as the heading of the advice.
        looks_at: the numbers that it compares.
        why: what happens if the rule applies, and why the advice helps.
        mend: what to do, in a sentence.
        basis: whether it is documented or inferred.
        source: the documentation or the measurements behind it.
    """

    id: str
    says: str
    looks_at: str
    why: str
    mend: str
    basis: Basis
    source: str

    @property
    def pointer(self) -> str:
        """The command that explains the rule."""
        return f"htppower explain {self.id}"


_EVENTS = "QnnHtpProfile.h, SDK 2.50, for the meaning of each event"
_PERFORMANCE = 'vendor, "QNN HTP Performance Infrastructure API"'

WAKE_UP = AdviceRule(
    "ADV-1",
    "The CPU wakes up late for the answer of the HTP.",
    "RPC (3001) less QNN accelerator (3002), compared with the whole inference.",
    "The difference is the time for which the call and its answer are on their way. An empty call takes about 220 us. "
    "The rest is mostly the wake-up of a CPU that sleeps deeply, or waits for an interrupt, when the answer arrives.",
    "Vote a short control latency, and let the CPU poll for the answer if it comes within 9.999 ms.",
    Basis.DOCUMENTED,
    f"{_PERFORMANCE}, RPC polling and latency; a third party's measurement of an empty call on SA8797P",
)
POLLING = AdviceRule(
    "ADV-2",
    "Polling ends before the answer comes.",
    "RPC (3001) compared with the polling time, at most 9999 us.",
    "The CPU polls until the polling time is over, and then sleeps anyway. That costs the power of polling and the "
    "wake-up.",
    "Vote adaptive polling, which polls only just before the answer, or no polling.",
    Basis.DOCUMENTED,
    f"{_PERFORMANCE}, adaptive polling: from inferences of about 1 ms on",
)
POWER_UP = AdviceRule(
    "ADV-3",
    "The HTP is powered up in every inference.",
    "HVX and HMX power on (3011) of each inference; if it is low back to back, the gaps between them.",
    "The votes are lowered, or HMX is switched off, between the inferences: the gaps outlast the sustain time or the "
    "HMX timeout, 300 ms by default. Each inference then waits for the power.",
    "Sustain the votes for longer than the gap, or let inferences come in a row.",
    Basis.INFERRED,
    f"{_EVENTS}; power-up of 5.8 to 29 ms cold and 9 to 36 us warm, measured by third parties on SM8750 and SA8797P",
)
COLD_START = AdviceRule(
    "ADV-4",
    "The first inference alone is slow: a normal cold start.",
    "HVX and HMX power on (3011), or the time of the whole, of the first inference, compared with the others.",
    "The HTP is off before the first inference, and its memory is not acquired. No profile changes that, and later "
    "inferences do not pay for it.",
    "Run one inference to warm up before the first that a user waits for, and leave it out of the figures.",
    Basis.INFERRED,
    f"{_EVENTS}; measured by third parties as for ADV-3",
)
CONTENTION = AdviceRule(
    "ADV-5",
    "Another graph interrupts the inferences on the HTP.",
    "Yields (3006 to 3009), the wait for VTCM (3010), and Accelerator (3004) less its time without waits (3012).",
    "The graph gives VTCM to a graph of higher priority, and waits until it gets VTCM again. Clocks do not matter "
    "here: a higher profile won't help.",
    "Raise the priority of this context, lower that of the other, or run them after each other.",
    Basis.INFERRED,
    f"{_EVENTS}; vendor, optrace: what yields are",
)
TOO_HIGH = AdviceRule(
    "ADV-6",
    "The graph is too small for a high profile.",
    "Accelerator without waits (3012), as a share of QNN (execute).",
    "Most of the inference is the call itself, which the clocks of the HTP hardly shorten. A high profile then costs "
    "power for little speed.",
    "Use a lower profile, put several inputs into one inference, or join small graphs.",
    Basis.INFERRED,
    f"{_EVENTS}; speed by profile: a third party's measurement on X Elite (GenieX, pull request 1447)",
)
CLOCK = AdviceRule(
    "ADV-7",
    "The clock does not follow the vote.",
    "Cycles (3003) over the time without waits (3012): whether this ratio changes with the profiles' corners.",
    "If another client votes a minimum, it applies to all clients. If the device is hot, the clock is limited for all. "
    "The clock is then the same, whatever this profile votes. Or the vote is not in force at all.",
    "Check whether the vote is sent, whether another client votes, and whether the device is hot.",
    Basis.INFERRED,
    "HAP_power, aggregation over clients; the ratio's rise with the clock is inferred. It is not a clock: the "
    "cycles of ops that run side by side are added up",
)
HUMPS = AdviceRule(
    "ADV-8",
    "The times have two humps.",
    "The times of all inferences: whether they form two separate groups.",
    "Some inferences run under other conditions than the rest: the clock was still going up, or the votes had been "
    "lowered between them. A mean or a median describes neither group.",
    "Keep the votes up over the whole run, and measure again.",
    Basis.INFERRED,
    "a third party's job on AI Hub: 17.6 ms at best, 41.7 ms at the median",
)
UNEXPLAINED = AdviceRule(
    "ADV-9",
    "The HTP waits, and no number shows for what.",
    "Accelerator (3004) less its time without waits (3012), and what power-up, VTCM and yields explain of it.",
    "Power-up, VTCM and yields are in the file only with detailed profiling.",
    "Profile again at the level detailed.",
    Basis.INFERRED,
    _EVENTS,
)
FIRST_QUERY = AdviceRule(
    "ADV-10",
    "Queries after a pause are slower to answer.",
    "Time to the first token, per token of the prompt, of the first query and of queries after a pause.",
    "The votes are lowered between the queries, so the first graphs of a query run at low clocks.",
    "Sustain the votes for longer than the pause, or send one short query first.",
    Basis.INFERRED,
    "the vendor's voter, measured: votes come down 300 ms after the last inference",
)
SLOW_TOKENS = AdviceRule(
    "ADV-11",
    "The language model is slow, and the file does not show why.",
    "Tokens per second: of the answers, and of prompts of 128 tokens or more.",
    "Models of 4 to 8 billion parameters were measured to be faster, even at their lowest clocks. So low votes are "
    "hardly the whole reason. Other reasons are slow remote calls, parts that run on the CPU, another client of the "
    "HTP, and heat. Only rows of the HTP (3001 to 3012) would tell them apart, and this file has none.",
    "Check which votes are in force, start the host again, and profile the graphs of the model.",
    Basis.INFERRED,
    "third parties' measurements: 3.8 tokens/s without votes on SA8797P; 4.6 to 9.2 tokens/s by mode on X Elite "
    "(GenieX, pull request 1447); prompts at 117 to 149 tokens/s by HMX corner (llama.cpp, pull request 22334)",
)

_FIRST = (WAKE_UP, POLLING, POWER_UP, COLD_START, CONTENTION, TOO_HIGH)
_MORE = (CLOCK, HUMPS, UNEXPLAINED, FIRST_QUERY, SLOW_TOKENS)
ADVICE_RULES: Mapping[str, AdviceRule] = MappingProxyType({each.id: each for each in (*_FIRST, *_MORE)})


class Confidence(str, enum.Enum):
    """How sure a piece of advice is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    __str__ = str.__str__

    @classmethod
    def least(cls, *found: Confidence) -> Confidence:
        """Return the least sure of some."""
        return max(found, key=list(cls).index)


class Gain(enum.Enum):
    """What a piece of advice improves, in the order of the report."""

    EVERY_INFERENCE = "every inference"
    ONCE = "once"
    KNOWLEDGE = "knowledge"


@attrs.frozen(repr=False, eq=False)
class Advice:
    """One piece of advice on one measurement.

    Attributes:
        rule: the rule behind it.
        confidence: how sure it is.
        evidence: the numbers, in sentences.
        do: what to do: lines of YAML, commands, or words.
        share: the part of the inferences' time that it is about, from 0 to 1; lower if it saves power and no time.
        gain_us: by how much an inference could get shorter at most; 0 if it saves no time.
        gain: what it gains.
    """

    rule: AdviceRule
    confidence: Confidence
    evidence: tuple[str, ...]
    do: tuple[str, ...]
    share: float = 0.0
    gain_us: float = 0.0
    gain: Gain = Gain.EVERY_INFERENCE


@attrs.frozen(repr=False, eq=False)
class Nothing:
    """The answer of a rule that has no advice: why, with the numbers."""

    rule: AdviceRule
    because: str

    @property
    def lacking(self) -> bool:
        """Whether the rule was not checked, because rows are missing."""
        return self.because.startswith("needs ")


@attrs.frozen(repr=False, eq=False)
class Told:
    """The advice of one rule on all measurements that it is about, the one that gains most first."""

    advice: Advice
    about: tuple[tuple[Measurement, Advice], ...]


@attrs.frozen(repr=False, eq=False)
class Report:
    """The report on some files.

    Attributes:
        measurements: what was measured.
        told: the advice that is reported, the one that gains most first.
        looked_at: for each measurement, what the rules without advice have looked at.
    """

    measurements: Sequence[Measurement]
    told: Sequence[Told]
    looked_at: Sequence[tuple[Measurement, Sequence[Nothing]]]

    @property
    def simulated(self) -> bool:
        """Whether no file is of a device."""
        return all(each.simulated for each in self.measurements)
