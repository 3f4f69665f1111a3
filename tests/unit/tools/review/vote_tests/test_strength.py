"""The vote tests fail for a controller with any one mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.checkout import DATA
from support.inside import aggregated, forget_computed, ledger_complete, patch_private
from support.shipped import shipped_folder

from htppower.control.core.caster import Caster
from htppower.control.core.home import Home
from htppower.control.core.reconciler import Reconciler
from htppower.control.core.recovery import Recovery
from htppower.control.gate.gate import Gate
from htppower.control.ledger import ledger
from htppower.control.ledger.process_settings import ProcessSettings
from htppower.events import Cause, Phase
from htppower.tools.review.vote_tests.compare import run_tests
from htppower.tools.review.vote_tests.files import load_tests
from htppower.votes.clock_votes import HVX_REMOVED, DcvsV3
from htppower.votes.native import Option
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.gate.tokens import Token
    from htppower.tools.review.vote_tests.cases import VoteTest

    Patch = pytest.MonkeyPatch

OWN = DATA / "vote_tests"


def ending(deadline_us: Callable[[Gate, Phase], int]) -> Any:
    """Return an end of INIT and DE-INIT that keeps the votes up for another time."""

    def end_preparation(self: Gate, token: Token, phase: Phase) -> None:
        with self.lock:
            self.tokens.drop_preparation(token)
            self.sustain.deadline_us = deadline_us(self, phase)

    return end_preparation


def right(self: Gate, phase: Phase) -> int:
    """Return the time until when the controller keeps the votes up."""
    now_us = self.time.now_us
    return max(self.sustain.deadline_us, now_us + self.plan.after_init_us) if phase is Phase.INIT else now_us


def after_init_is_ignored(patch: Patch) -> None:
    """INIT is lowered at once, whatever the profile states."""

    def ignoring(self: Gate, phase: Phase) -> int:
        return max(self.sustain.deadline_us, self.time.now_us) if phase is Phase.INIT else right(self, phase)

    patch.setattr(Gate, "end_preparation", ending(ignoring))


def init_shortens_the_sustain(patch: Patch) -> None:
    """The end of INIT replaces the deadline."""
    shortening = ending(
        lambda self, phase: self.time.now_us + self.plan.after_init_us if phase is Phase.INIT else right(self, phase)
    )
    patch.setattr(Gate, "end_preparation", shortening)


def deinit_keeps_the_sustain(patch: Patch) -> None:
    """The end of DE-INIT leaves the deadline."""
    keeping = ending(lambda self, phase: right(self, phase) if phase is Phase.INIT else self.sustain.deadline_us)
    patch.setattr(Gate, "end_preparation", keeping)


def init_leaves_no_doubt(patch: Patch) -> None:
    """Votes from before a graph's context are assumed to be in force."""
    patch_private(patch, Reconciler, note_inits=lambda _self, session: setattr(session, "inits", session.gate.inits))


def everything_is_sent(patch: Patch) -> None:
    """Every call has every vote and the settings of the process."""

    def cast_on(self: Caster, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        ledger, votes = session.ledgers[core_id], votes.where_absent(*self._missing.options)
        differing = dict(ledger.difference(votes).items())
        whole = VoteSet.of({**dict(votes.without(*PROCESS_WIDE).items()), **differing})
        self._set(session, ledger, ledger.carrying(whole))

    patch_private(patch, Caster, cast_on=cast_on)
    patch.setattr(ProcessSettings, "difference", lambda self: aggregated(tuple(self._wishes)))


def never_taken_back(option: Option) -> Callable[[Patch], None]:
    """Return a mistake that never resets an option."""

    def apply(patch: Patch) -> None:
        kept = attrs.evolve(VOTE_OPTIONS[option], taken_back=None)
        patch.setattr(ledger, "VOTE_OPTIONS", {**VOTE_OPTIONS, option: kept})

    apply.__name__ = f"{option.name.lower()}_is_never_taken_back"
    return apply


def never_cleared(field: str) -> Callable[[Patch], None]:
    """Return a mistake that never clears a field of an earlier HVX vote."""
    complete = ledger_complete()

    def apply(patch: Patch) -> None:
        def leaving(option: Option, value: Any, earlier: Any, known: bool) -> Any:
            made = complete(option, value, earlier, known)
            if isinstance(made, DcvsV3) and made is not HVX_REMOVED and isinstance(value, DcvsV3):
                return attrs.evolve(made, **{field: getattr(value, field)})
            return made

        patch_private(patch, ledger, complete=leaving)

    apply.__name__ = f"{field}_is_never_cleared"
    return apply


def a_left_unset_field_is_forgotten(patch: Patch) -> None:
    """The ledger takes the last vote as the whole state, and clears no field."""
    patch_private(patch, ledger, after=lambda _earlier, value: value)
    patch_private(
        patch,
        ledger,
        complete=lambda option, value, _earlier, _known: VOTE_OPTIONS[option].taken_back if value is None else value,
    )


def what_a_vote_leaves_unset_is_not_remembered(patch: Patch) -> None:
    """The ledger takes the last vote as the whole state."""
    patch_private(patch, ledger, after=lambda _earlier, value: value)


def idle_ignores_an_init_in_flight(patch: Patch) -> None:
    """An inference that ends within INIT lowers."""

    def without(method: Callable[..., Any], gate_of: Callable[..., Gate | None]) -> Callable[..., Any]:
        def run(*given: Any, **options: Any) -> Any:
            gate = gate_of(*given)
            if gate is None:
                return method(*given, **options)
            preparing, gate.tokens.preparing = gate.tokens.preparing, ()
            try:
                return method(*given, **options)
            finally:
                gate.tokens.preparing = preparing

        return run

    def at_an_end(_self: Reconciler, session: SessionRecord, cause: Cause, *_more: object) -> Gate | None:
        return session.gate if cause is Cause.INFERENCE_ENDED else None

    patch.setattr(Gate, "must_lower", without(Gate.must_lower, lambda gate: gate))
    patch.setattr(Reconciler, "settle", without(Reconciler.settle, at_an_end))


def the_deadline_is_missed(patch: Patch) -> None:
    """The sustain timer runs, but the votes are not lowered."""
    settle_soon = Home.settle_soon

    def unheard(self: Home, session: SessionRecord, cause: Cause, phase: Phase | None = None) -> None:
        if cause is not Cause.SUSTAIN_EXPIRED:
            settle_soon(self, session, cause, phase)

    patch.setattr(Home, "settle_soon", unheard)


def a_restart_is_not_told(patch: Patch) -> None:
    """After a lost link, the controller still assumes its votes in force."""
    patch.setattr(Recovery, "failed", lambda _self, _error: None)
    patch.setattr(Recovery, "link_lost", lambda _self, _means, _error: None)


WRONG = [
    after_init_is_ignored,
    init_shortens_the_sustain,
    deinit_keeps_the_sustain,
    init_leaves_no_doubt,
    everything_is_sent,
    never_taken_back(Option.HMX_V2),
    never_taken_back(Option.RPC_POLLING_TIME),
    never_taken_back(Option.ADAPTIVE_POLLING_TIME),
    never_taken_back(Option.HMX_TIMEOUT_INTERVAL_US),
    never_cleared("sleep_disable"),
    never_cleared("sleep_latency_us"),
    never_cleared("bus"),
    never_cleared("dcvs_enable"),
    a_left_unset_field_is_forgotten,
    what_a_vote_leaves_unset_is_not_remembered,
    idle_ignores_an_init_in_flight,
    the_deadline_is_missed,
    a_restart_is_not_told,
]


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    """Clear the caches of the ledger before and after each test."""
    forget_computed()
    yield
    forget_computed()


@pytest.fixture(scope="module")
def tests() -> tuple[VoteTest, ...]:
    """Return the shipped tests and the tests with their own profiles, read before a mistake is made."""
    return load_tests([shipped_folder() / "tests", OWN])


def failures(tests: tuple[VoteTest, ...]) -> Iterator[str]:
    """Run the cases, and yield those that fail."""
    for test in tests:
        yield from (result.case.name for result in run_tests([test]) if result.failures)


def test_the_controller_passes_all_vote_tests(tests: tuple[VoteTest, ...]) -> None:
    """The tests of the shipped profiles pass, and so do tests of votes that no shipped profile has."""
    assert list(failures(tests)) == []


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_controller_fails(
    wrong: Callable[[Patch], None], monkeypatch: Patch, tests: tuple[VoteTest, ...]
) -> None:
    """For each mistake, some case fails."""
    wrong(monkeypatch)
    assert next(failures(tests), None) is not None
