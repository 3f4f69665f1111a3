"""Tunes all sessions of a recording: first each alone, then all together, since they share a core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.errors import HtpPowerError, ProfileError
from htppower.profiles.loading import load_profile
from htppower.tools.tuning.holds import Checked, Holds, check, holds
from htppower.tools.tuning.notes import about_the_reserve, too_short
from htppower.tools.tuning.replay import Replayed, replay
from htppower.tools.tuning.sensitivity import Assumption, assumptions
from htppower.tools.tuning.session_advice import Aim, SessionAdvice, advise, price_of_latency_w
from htppower.tools.tuning.shared import Together, settle_together
from htppower.tools.tuning.traces.stretches import STRETCHES, joined, shared_stretches_of, stretches_of
from htppower.tools.tuning.trial import thinned
from htppower.tools.tuning.variants import Variant, candidates_beside, variants
from htppower.tools.tuning.whole import on_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.models.model import DeviceModel
    from htppower.tools.tuning.traces.trace import SessionTrace, Trace
    from htppower.tools.tuning.trial import Trial

DEFAULT_PROFILE = "burst"
DEFAULT_BREAK_EVEN_US = 100_000


class TuningError(HtpPowerError, ValueError):
    """A recording that can't be tuned as requested."""


@attrs.frozen
class Question:
    """The options of a tuning.

    Attributes:
        limits: what each session must keep to.
        break_even_us: the break-even time that sets the price of latency; not used if there are limits.
        profiles: the names of the profiles to try; if empty, the vendor's profiles.
        measured_under: the profile that the recording was made under; None is the profile that it names, or burst.
        folders: the folders that profiles are loaded from, in addition to the shipped profiles.
        most_us: the longest time-out that is tried.
        settings: how many time-outs of a profile are tried at most for the front.
        verify: how many choices of each front are replayed by the controller.
        within: how much more than the least cost a choice may cost if it is further from a cliff, as a share.
    """

    limits: tuple[Limit, ...] = ()
    break_even_us: int = DEFAULT_BREAK_EVEN_US
    profiles: tuple[str, ...] = ()
    measured_under: str | None = None
    folders: tuple[str, ...] = ()
    most_us: int = 10_000_000
    settings: int = 200
    verify: int = 0
    within: float = 0.01


@attrs.frozen
class Verified:
    """A choice that was replayed by the controller.

    Attributes:
        choice: the choice.
        replayed: what the controller did.
        differences: in words, how the calculation differs from the replay; empty if both are equal.
    """

    choice: Choice
    replayed: Replayed
    differences: tuple[str, ...]


@attrs.frozen(eq=False)
class Tuned:
    """The result for one session.

    Attributes:
        advice: the advice over all profiles and sustain times.
        best: the advised choice: the best for the session alone, or together with the others. None if no choice keeps
            to the limits.
        aim: what the session was tuned for.
        holds: the gaps and speeds that the choice holds for.
        checked: the result of the choice on the last third of the recording; if nothing is advised, of the cheapest.
        assumptions: how far the values of the device model may move before other advice would be better.
        verified: the choices that were replayed.
    """

    advice: SessionAdvice
    best: Choice | None
    aim: Aim
    holds: Holds | None = None
    checked: Checked | None = None
    assumptions: tuple[Assumption, ...] = ()
    verified: tuple[Verified, ...] = ()

    @property
    def rest_used(self) -> bool:
        """Whether the last third of the recording was used to find the choice, and not only to check it."""
        return self.advice.margin is not None and self.advice.margin.rest_used


@attrs.frozen(eq=False)
class Tuning:
    """The result for a recording.

    Attributes:
        trace: the recording.
        model: the device.
        question: the options.
        sessions: the result for each session.
        together: the result for all sessions together; None if there is only one session.
        verified: all sessions with their advised choices, replayed together.
    """

    trace: Trace
    model: DeviceModel
    question: Question
    sessions: tuple[Tuned, ...]
    together: Together | None = None
    verified: tuple[Verified, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether every replay by the controller gave the calculated result."""
        replayed = [*self.verified, *(each for session in self.sessions for each in session.verified)]
        return not any(each.differences for each in replayed)


def chosen(trace: Trace, names: Sequence[str]) -> Trace:
    """Return a recording with only the named sessions; with all sessions if no name is given.

    Raises:
        TuningError: the recording has no session of that name.
    """
    if not names:
        return trace
    known = {each.name for each in trace.sessions}
    for name in names:
        if name not in known:
            raise TuningError(f"{trace.source}: no session {name!r}; it has {', '.join(sorted(known))}")
    return attrs.evolve(trace, sessions=tuple(each for each in trace.sessions if each.name in names))


def tune(
    trace: Trace, model: DeviceModel, question: Question, progress: Callable[[float], None] = lambda _: None
) -> Tuning:
    """Tune a recording, and return the result.

    ``progress`` is called with the share that is done, 0 to 1, each time the share has grown.

    Raises:
        ProfileError: a profile can't be found or read.
        TuningError: no session has a gap between inferences, or none of the profiles can be tried.
    """
    sessions = [each for each in trace.sessions if each.gaps_us().any()]
    if not sessions:
        raise TuningError(f"{trace.source}: nothing to tune: no session has two inferences with a gap between them")
    left_out = [each.name for each in trace.sessions if each.begins_us.size and not each.gaps_us().any()]
    if left_out:
        note = f"left out, because there is no gap between its inferences: {', '.join(left_out)}"
        trace = attrs.evolve(trace, notes=(*trace.notes, note))
    steps = _Steps(len(sessions), progress)
    parts = [joined(each, stretches_of(each)) for each in sessions]
    found = [
        _advise(part, each, model, question, len(sessions) > 1, steps.part)
        for part, each in zip(parts, sessions, strict=True)
    ]
    together = None
    best = [advice.best for advice, _ in found]
    if len(found) > 1:
        stretches = shared_stretches_of(sessions)
        if stretches:
            note = f"the recording is long: sessions were settled together on {STRETCHES} stretches of it"
            trace = attrs.evolve(trace, notes=(*trace.notes, note))
        shared = [joined(each, stretches) for each in sessions]
        running = [place for place, each in enumerate(shared) if each.begins_us.size]
        # The price of latency of the first session applies to all: sessions of one process are worth the same.
        together = settle_together([found[place][0].on(shared[place]) for place in running], found[0][1])
        for place, choice in zip(running, together.choices or (), strict=False):
            best[place] = found[place][0].offer(choice).choice(choice.sustain)
    whole = [
        on_whole(advice, choice, session, aim) if part is not session else (advice, choice)
        for (advice, aim), choice, part, session in zip(found, best, parts, sessions, strict=True)
    ]
    tuned = tuple(
        _finished(advice, choice, model, aim, question, steps.part)
        for (advice, choice), (_, aim) in zip(whole, found, strict=True)
    )
    verified = _verified_together(tuned) if question.verify and len(tuned) > 1 else ()
    return Tuning(trace, model, question, tuned, together, verified)


class _Steps:
    """Reports the share that is done. Each session is two steps: the advice, and the examination of the advice."""

    def __init__(self, sessions: int, progress: Callable[[float], None]) -> None:
        self._of = 2 * sessions
        self._done = 0
        self._progress = progress

    def part(self, share: float) -> None:
        """Report how much of the present step is done; a share of 1 ends the step."""
        self._progress((self._done + share) / self._of)
        self._done += share >= 1


def _advise(
    part: SessionTrace,
    session: SessionTrace,
    model: DeviceModel,
    question: Question,
    together: bool,
    progress: Callable[[float], None],
) -> tuple[SessionAdvice, Aim]:
    """Return advice on a part of a session: on all of it, or on stretches if it is long."""
    try:
        present, notes = recorded_under(session, question)
    except TuningError as error:
        # Report the errors in the profiles to try as well, so that one run shows them all.
        raise TuningError("\n".join((str(error), *_wrong(question)))) from None
    names = question.profiles or candidates_beside(present)
    tried, left_out = variants(names, question.folders)
    own = Variant(present, present)
    if own not in tried:
        tried = (*variants_of(present), *tried)
    price_w = price_of_latency_w(model, present, question.break_even_us)
    aim = Aim(question.limits, price_w, question.most_us, question.settings, question.within, together)
    advice = advise(part, tried, own, model, aim, progress)
    return attrs.evolve(advice, notes=(*notes, *left_out, *too_short(session, advice), *advice.notes)), aim


def _wrong(question: Question) -> Iterator[str]:
    """Yield the errors in the profiles to try."""
    for name in dict.fromkeys(question.profiles):
        try:
            load_profile(name, folders=question.folders)
        except ProfileError as error:
            yield str(error)


def variants_of(profile: Profile) -> tuple[Variant, ...]:
    """Return a profile unchanged. It is always tried: the other profiles are compared with it."""
    return (Variant(profile, profile),)


def recorded_under(session: SessionTrace, question: Question) -> tuple[Profile, tuple[str, ...]]:
    """Return the profile that a session was recorded under, and notes on what is assumed.

    Raises:
        ProfileError: the profile can't be found or read.
        TuningError: the profile sends no votes; or the recording names it, and it can't be found.
    """
    name = question.measured_under or session.profile or DEFAULT_PROFILE
    try:
        profile = load_profile(name, folders=question.folders)
    except ProfileError as error:
        if question.measured_under is not None or error.rule != "NAME-1":
            raise
        raise TuningError(
            f"{session.name}: recorded under the profile {name!r}, which is not found; give its folder with --profiles,"
            " or a similar profile with --measured-under"
        ) from None
    if not profile.votes or profile.relax is None:
        raise TuningError(
            f"{session.name}: recorded under {profile.name}, which sends no votes, so its speed is not known; give a"
            " profile with votes with --measured-under"
        )
    notes = []
    if question.measured_under is None and session.profile is None:
        notes.append(f"the recording does not name its profile; assumed: {name}")
    if profile.relax.then is not None or profile.relax.raise_ahead_us:
        notes.append(f"{name} relaxes further, or raises ahead; this is left out here and in the advised profile")
    if session.cold is None:
        notes.append("the recording does not mark inferences that waited for a raise; assumed: none of them waited")
    return profile, tuple(notes)


def _finished(
    advice: SessionAdvice,
    best: Choice | None,
    model: DeviceModel,
    aim: Aim,
    question: Question,
    progress: Callable[[float], None],
) -> Tuned:
    alone = best is not None and best == advice.best
    found = assumptions(advice, best, model, aim, progress) if best is not None and alone else ()
    if best is not None and not alone:
        said = "this is the best choice for the sessions together, not for this session alone; so how far the values of"
        advice = attrs.evolve(advice, notes=(*advice.notes, f"{said} the device model may move is not calculated"))
    held, checked = _looked_into(advice, best, aim)
    advice = attrs.evolve(advice, notes=(*advice.notes, *about_the_reserve(advice, aim)))
    verified = _verified(advice, best, question.verify)
    progress(1)
    return Tuned(advice, best, aim, held, checked, found, verified)


def _looked_into(advice: SessionAdvice, best: Choice | None, aim: Aim) -> tuple[Holds | None, Checked | None]:
    """Return the range that a choice holds for, and its result on the last third of the recording."""
    choice = best or advice.cheapest
    if choice is None:
        return None, None
    offer, price_w = advice.offer(choice), aim.price_in_cost_w
    held = holds(offer, choice, aim.limits, price_w) if best is not None else None
    return held, check(offer, choice, aim.limits, price_w) if aim.within else None


def _verified(advice: SessionAdvice, best: Choice | None, count: int) -> tuple[Verified, ...]:
    """Replay choices of the front, and return the results: the advised choice, and others spread over the front."""
    if not count:
        return ()
    spread = [advice.front[place] for place in thinned(np.arange(len(advice.front)), count).tolist()]
    chosen = list(dict.fromkeys(([best] if best is not None else []) + spread))[:count]
    return tuple(_replayed([(advice, choice)])[0] for choice in chosen)


def _verified_together(sessions: Sequence[Tuned]) -> tuple[Verified, ...]:
    pairs = [(each.advice, each.best) for each in sessions]
    if any(best is None for _, best in pairs):
        return ()
    return _replayed([(advice, best) for advice, best in pairs if best is not None])


def _replayed(pairs: Sequence[tuple[SessionAdvice, Choice]]) -> tuple[Verified, ...]:
    """Replay sessions together by the controller, and compare the results with the calculated ones."""
    offers = [advice.offer(choice) for advice, choice in pairs]
    found = replay(
        [
            (choice.variant.under(choice.sustain), offer.trial.workload)
            for offer, (_, choice) in zip(offers, pairs, strict=True)
        ]
    )
    return tuple(
        Verified(choice, each, tuple(each.differences(_worked_out(offer.trial, choice))))
        for each, offer, (_, choice) in zip(found, offers, pairs, strict=True)
    )


def _worked_out(trial: Trial, choice: Choice) -> Replayed:
    run = trial.run(choice.sustain)
    calls = int(trial.outcome(choice.sustain).calls[0])
    return Replayed.worked_out(run, calls)
