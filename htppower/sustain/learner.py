"""What learns a sustain time from the gaps of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from htppower.sustain.leader import Leader
from htppower.sustain.quantile import Quantile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.savings import Savings


class Learner(Protocol):
    """Chooses the time-out of each gap from those before it.

    A gap is the time from the end of a session's last inference to the begin of the next, in us. One that is shorter
    than the time-out finds the votes up; any other has them lowered, and its next inference waits for a raise.

    Attributes:
        time_out_us: the sustain time of the gap that comes next, in us; 0 lowers at once.
        learnt_us: what that is without a hint.
    """

    time_out_us: int

    @property
    def learnt_us(self) -> int:
        """The sustain time that was learnt, in us."""

    @property
    def gaps(self) -> int:
        """How many gaps were learnt from."""

    def learn(self, gap_us: int, *, waited: bool = True) -> None:
        """Learn from a gap that has ended. The time-out changes only after one that was not shorter than it.

        ``waited``: whether the inference after such a gap waited for a raise, as it does unless that was made ahead.
        """

    def learn_within(self, gaps_us: list[int]) -> None:
        """Learn from gaps that were all shorter than the time-out, at once; the list is the learner's then."""

    def hint(self, gap_us: int, passed_us: int = 0) -> None:
        """Choose the time-out of one gap, and of that alone, by a prediction of how long it is as a whole.

        A prediction that is wrong costs no more than the bound allows. Where so much of the gap has passed already, the
        votes have to be up still: it has to be less than the time-out.
        """

    def forget_hint(self) -> None:
        """Take back a hint, as of a time that turned out to be no gap."""

    def savings(self) -> Savings:
        """Return what its choices have cost, beside what the vendor's timer would have."""

    def state(self) -> dict[str, int | list[int]]:
        """Return all that it knows, as plain values, to be kept over a restart of the process."""


def make_learner(sustain: Adaptive, state: Mapping[str, int | list[int]] | None = None) -> Learner:
    """Return a learner that knows nothing, or what another one of the same profile knew.

    Raises:
        ValueError, KeyError, TypeError: the state is none of a learner with these parameters.
    """
    kind = Quantile if sustain.break_even_us is None else Leader
    return kind(sustain) if state is None else kind.restored(sustain, state)
