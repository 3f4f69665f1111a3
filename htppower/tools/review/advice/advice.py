"""The answer of a check: advice with its evidence, or why there is none; and the report of all answers."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.rules import AdviceRule


# The reason of a rule that lacks numbers begins with this.
LACKING = "needs "


class Confidence(str, enum.Enum):
    """How sure a piece of advice is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    __str__ = str.__str__


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
        return self.because.startswith(LACKING)


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
