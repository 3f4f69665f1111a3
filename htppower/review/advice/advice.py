"""What a check says: advice with its evidence, or why it has none; and the report of all."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.review.advice.measurement import Measurement
    from htppower.review.advice.rules import AdviceRule


# So begins the reason of a rule that lacks numbers.
LACKING = "needs "


class Confidence(str, enum.Enum):
    """How sure an advice is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    __str__ = str.__str__


class Gain(enum.Enum):
    """What an advice gains, in the order in which advice is told."""

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
        share: the part of the inferences' time that it is about, from 0 to 1; for what gains power and no time, less.
        gain_us: the time that an inference could be shorter by at most; 0 where it gains no time.
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
    """A rule that has no advice: why, with the numbers."""

    rule: AdviceRule
    because: str

    @property
    def lacking(self) -> bool:
        """Whether it could not be asked, for lack of rows."""
        return self.because.startswith(LACKING)


@attrs.frozen(repr=False, eq=False)
class Told:
    """One advice as it is told: for all measurements that it is about, the one that gains most first."""

    advice: Advice
    about: tuple[tuple[Measurement, Advice], ...]


@attrs.frozen(repr=False, eq=False)
class Report:
    """What is told of some files.

    Attributes:
        measurements: what was measured.
        told: the advice, the one that gains most first.
        looked_at: what each rule without advice has looked at, by measurement.
    """

    measurements: Sequence[Measurement]
    told: Sequence[Told]
    looked_at: Sequence[tuple[Measurement, Sequence[Nothing]]]

    @property
    def simulated(self) -> bool:
        """Whether no file is of a device."""
        return all(each.simulated for each in self.measurements)
