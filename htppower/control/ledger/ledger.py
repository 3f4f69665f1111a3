"""What is known to be in force on one power config id, or in the process, and the difference to what is wanted.

An option is in the ledger once it has been sent: known after a call that returned 0, unknown while a call carries it
and after one that failed (the library is not atomic), after an INIT, and after a restart of the DSP. What a new vote
set leaves unset is taken back, so that no vote outlives the profile that cast it.

What a ledger holds at a time is one frozen value, so that it can be read while it is changed. The same few values come
again and again, so what follows from them is computed once.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs

from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.field_repr import field_repr
from htppower.votes.options import BY_CLASS, PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.votes.native import Option

NOTHING = VoteSet()
OF_AN_ID = frozenset(VOTE_OPTIONS) - PROCESS_WIDE


@attrs.frozen(cache_hash=True)
class InForce:
    """What is known at a time.

    Attributes:
        known: the votes known to be in force.
        doubtful: the votes that were sent last on options of which nothing is known.
        accepted: the options that the library has ever taken.
    """

    known: VoteSet = NOTHING
    doubtful: VoteSet = NOTHING
    accepted: frozenset[Option] = frozenset()

    __repr__ = field_repr


@attrs.frozen(repr=False, eq=False)
class Effect:
    """What a call with some votes changes in what is known.

    Attributes:
        votes: these votes; ``NOTHING`` itself for none.
        refused: whether the rules refuse the call: it needs an HVX vote that is not in force.
        during: what is known until the call returns.
        after: what is known once it has returned 0.
    """

    votes: VoteSet
    refused: bool
    during: InForce
    after: InForce


_NOTHING_KNOWN = InForce()
_ASKED_AT_THE_CALL = rules.ids(lambda rule: rule.asked_at_the_call)


class Ledger:
    """What is known of one power config id, or of the process. Who changes it has the line.

    Args:
        options: the options that it is about.
        power_config_id: the id; 0 for the process.
    """

    __slots__ = ("_options", "now", "power_config_id")

    def __init__(self, options: frozenset[Option] = OF_AN_ID, power_config_id: int = 0) -> None:
        self._options = options
        self.power_config_id = power_config_id
        self.now = _NOTHING_KNOWN

    def difference(self, wanted: VoteSet) -> VoteSet:
        """Return what must be sent so that the wanted votes are in force, and no others; other options are left out.

        An HVX vote that is not active is sent again with a vote that needs it. Where nothing must be sent, this is
        ``NOTHING`` itself: that is quicker to ask than whether a vote set is empty.
        """
        return _difference(self.now, wanted, self._options)

    def carrying(self, votes: VoteSet) -> Effect:
        """Return what is known where a call carries these votes, at once: see ``sending`` and ``sent``."""
        return _carrying(self.now, votes, self._options)

    def carrying_difference(self, wanted: VoteSet) -> Effect:
        """Return what is known where a call carries the ``difference``: both by one look-up."""
        return _carrying_difference(self.now, wanted, self._options)

    def sending(self, votes: VoteSet) -> None:
        """Note that a call is about to carry these votes: until it returns, nothing is known of them."""
        self.now = _sending(self.now, votes, self._options)

    def sent(self, votes: VoteSet) -> None:
        """Note that the call returned 0."""
        self.now = _sent(self.now, votes, self._options)

    def refused(self, option: Option) -> None:
        """Note that the platform does not have an option, so nothing of it is in force."""
        now = self.now
        self.now = InForce(now.known.without(option), now.doubtful.without(option), now.accepted - {option})

    def doubt(self, option: Option) -> None:
        """Note that an option was refused which was accepted before: the vote before may still be in force."""
        self.now = attrs.evolve(self.now, accepted=self.now.accepted - {option})

    def forget(self) -> None:
        """Know no longer what is in force."""
        now = self.now
        doubtful = VoteSet.of({**dict(now.doubtful.items()), **dict(now.known.items())})
        self.now = InForce(NOTHING, doubtful, now.accepted)


@functools.lru_cache(maxsize=1024)
def _difference(now: InForce, wanted: VoteSet, options: frozenset[Option]) -> VoteSet:
    differing = VoteSet.of(dict(_differing(now, wanted, options)))
    hvx = now.known.hvx
    # Beside an HVX vote that is not active, one that needs it can't be changed unless the call states it (rule HMX-6).
    if hvx is None or hvx.active or differing.hvx is not None or not _needs_hvx(differing):
        return differing or NOTHING
    hvx_option = BY_CLASS[type(hvx)].option
    return VoteSet.of({**dict(differing.items()), hvx_option: hvx})


def _differing(now: InForce, wanted: VoteSet, options: frozenset[Option]) -> Iterator[tuple[Option, Any]]:
    superseded = {VOTE_OPTIONS[option].other_form for option in wanted.options}
    for option in VOTE_OPTIONS:
        if option not in options:
            continue
        earlier, complete = _earlier(now, option), wanted.get(option)
        if complete is None and (earlier is None or option in superseded):
            continue
        for each in (earlier, _earlier(now, VOTE_OPTIONS[option].other_form)):
            if each is not None:
                complete = _complete(option, complete, *each)
        is_there = earlier is not None and earlier[1] and _after(earlier[0], complete) == earlier[0]
        if complete is not None and not is_there:
            yield option, complete
            superseded.add(VOTE_OPTIONS[option].other_form)


@functools.lru_cache(maxsize=1024)
def _carrying(now: InForce, votes: VoteSet, options: frozenset[Option]) -> Effect:
    refused = _needs_hvx(votes) and bool(rules.check(Case(votes, in_force=now.known), _ASKED_AT_THE_CALL))
    during = _sending(now, votes, options)
    # An equal set may have been looked up first.
    return Effect(votes or NOTHING, refused, during, _sent(during, votes, options))


@functools.lru_cache(maxsize=1024)
def _carrying_difference(now: InForce, wanted: VoteSet, options: frozenset[Option]) -> Effect:
    return _carrying(now, _difference(now, wanted, options), options)


@functools.lru_cache(maxsize=1024)
def _sending(now: InForce, votes: VoteSet, options: frozenset[Option]) -> InForce:
    known, doubtful = dict(now.known.items()), dict(now.doubtful.items())
    for option, value in votes.items():
        if option not in options:
            continue
        earlier = _earlier(now, option)
        known.pop(option, None)
        doubtful[option] = value if earlier is None else _after(earlier[0], value)
        other = VOTE_OPTIONS[option].other_form
        if other in known:
            doubtful[other] = known.pop(other)
    return _first_equal(InForce(VoteSet.of(known), VoteSet.of(doubtful), now.accepted))


@functools.lru_cache(maxsize=1024)
def _sent(now: InForce, votes: VoteSet, options: frozenset[Option]) -> InForce:
    known, doubtful = dict(now.known.items()), dict(now.doubtful.items())
    carried = [option for option in votes.options if option in options]
    for option in carried:
        known[option] = doubtful.pop(option)
        # What a vote supersedes is gone.
        doubtful.pop(VOTE_OPTIONS[option].other_form or option, None)
    return _first_equal(InForce(VoteSet.of(known), VoteSet.of(doubtful), now.accepted.union(carried)))


@functools.lru_cache(maxsize=1024)
def _first_equal(now: InForce) -> InForce:
    """Return the first of all that are equal: what is looked up by the same object is not compared vote by vote."""
    return now


def _needs_hvx(votes: VoteSet) -> bool:
    return any(VOTE_OPTIONS[option].needs_hvx for option in votes.options)


def _earlier(now: InForce, option: Option | None) -> tuple[Any, bool] | None:
    """Return what was last sent on an option, and whether it is known to be in force."""
    if option is None:
        return None
    known = now.known.get(option)
    if known is not None:
        return known, True
    doubtful = now.doubtful.get(option)
    return None if doubtful is None else (doubtful, False)


def _complete(option: Option, value: Any, earlier: Any, known: bool) -> Any:
    """Return the vote with what takes back the parts of an earlier one that it does not mention."""
    taken_back = VOTE_OPTIONS[option].taken_back
    # Where nothing takes a vote back, 0 is no vote (rule RPC-5).
    if value is None or (taken_back is None and value == 0):
        return taken_back
    left_unset = {}
    for name in _left_unset(value):
        # What an earlier vote in the other form has set stays, too.
        before, removed = getattr(earlier, name, None), getattr(taken_back, name)
        if before is not None and not (known and before == removed):
            left_unset[name] = removed
    return attrs.evolve(value, **left_unset) if left_unset else value


def _after(earlier: Any, value: Any) -> Any:
    """Return what is in force after a vote: some votes change only the fields that they set."""
    kept = {name: getattr(earlier, name) for name in _left_unset(value)}
    return attrs.evolve(value, **kept) if any(field is not None for field in kept.values()) else value


def _left_unset(value: Any) -> list[str]:
    """Return the fields that a vote leaves as they are on the id."""
    about = BY_CLASS.get(type(value))
    return (
        [] if about is None else [each.name for each in about.fields if each.flag and getattr(value, each.name) is None]
    )
