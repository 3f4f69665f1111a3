"""The ledger of one power config id, or of the process: the votes in force, and the difference to the wanted votes.

An option is in the ledger once it has been sent. Its vote is known after a call that returned 0. It is in doubt while a
call carries it, after a failed call (which may have set some of its options), after an INIT, and after a restart of the
DSP. If a new vote set leaves an option unset, the old vote is reset, so that no vote outlives its profile.

The content of a ledger is one frozen value, so other threads can read it at any time. Hosts send the same few vote sets
again and again, so all results are cached.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs

from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.options import BY_CLASS, PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.votes.native import Option

NOTHING = VoteSet()
OF_AN_ID = frozenset(VOTE_OPTIONS) - PROCESS_WIDE


@attrs.frozen(cache_hash=True)
class InForce:
    """The content of a ledger.

    Attributes:
        known: the votes that are known to be in force.
        doubtful: the last votes of options that are in doubt.
        accepted: the options that the library has accepted at least once.
    """

    known: VoteSet = NOTHING
    doubtful: VoteSet = NOTHING
    accepted: frozenset[Option] = frozenset()


@attrs.frozen(repr=False, eq=False)
class Effect:
    """What a call changes in a ledger.

    Attributes:
        votes: the votes of the call; ``NOTHING`` itself if there are none.
        refused: whether the rules refuse the call, since it needs an HVX vote that is not in force.
        during: the content until the call returns.
        after: the content once the call has returned 0.
    """

    votes: VoteSet
    refused: bool
    during: InForce
    after: InForce


_NOTHING_KNOWN = InForce()
_ASKED_AT_THE_CALL = rules.ids(lambda rule: rule.asked_at_the_call)


class Ledger:
    """The ledger of one power config id, or of the process. Changes need the line.

    Args:
        options: the options in the ledger.
        power_config_id: the id; 0 for the process.
    """

    __slots__ = ("_options", "now", "power_config_id")

    def __init__(self, options: frozenset[Option] = OF_AN_ID, power_config_id: int = 0) -> None:
        self._options = options
        self.power_config_id = power_config_id
        self.now = _NOTHING_KNOWN

    def difference(self, wanted: VoteSet) -> VoteSet:
        """Return the votes to send so that exactly the wanted votes are in force.

        Options that are not in this ledger are left out. An HVX vote that is not active is sent again with a vote that
        needs it. If there is nothing to send, the result is the object ``NOTHING``, so that callers can compare by
        identity.
        """
        return _difference(self.now, wanted, self._options)

    def carrying(self, votes: VoteSet) -> Effect:
        """Return the effect of a call with these votes, found by one look-up."""
        return _carrying(self.now, votes, self._options)

    def carrying_difference(self, wanted: VoteSet) -> Effect:
        """Return the effect of a call with the ``difference``, found by one look-up."""
        return _carrying_difference(self.now, wanted, self._options)

    def sending(self, votes: VoteSet) -> None:
        """Record that a call with these votes begins: they are in doubt until it returns."""
        self.now = _sending(self.now, votes, self._options)

    def sent(self, votes: VoteSet) -> None:
        """Record that the call returned 0, so its votes are in force."""
        self.now = _sent(self.now, votes, self._options)

    def refused(self, option: Option) -> None:
        """Record that the platform does not have an option, so no vote on it is in force."""
        now = self.now
        self.now = InForce(now.known.without(option), now.doubtful.without(option), now.accepted - {option})

    def doubt(self, option: Option) -> None:
        """Record that an option was refused that was accepted before: its earlier vote may still be in force."""
        self.now = attrs.evolve(self.now, accepted=self.now.accepted - {option})

    def forget(self) -> None:
        """Put every vote in doubt."""
        now = self.now
        doubtful = VoteSet.of({**dict(now.doubtful.items()), **dict(now.known.items())})
        self.now = InForce(NOTHING, doubtful, now.accepted)


@functools.lru_cache(maxsize=1024)
def _difference(now: InForce, wanted: VoteSet, options: frozenset[Option]) -> VoteSet:
    differing = VoteSet.of(dict(_differing(now, wanted, options)))
    hvx = now.known.hvx
    # If the HVX vote is not active, a vote that needs HVX can be changed only by a call that also carries an HVX vote
    # (rule HMX-6).
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
    # An empty set from the cache may be another object than ``NOTHING``.
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
        # A vote replaces the vote in the other form of its option.
        doubtful.pop(VOTE_OPTIONS[option].other_form or option, None)
    return _first_equal(InForce(VoteSet.of(known), VoteSet.of(doubtful), now.accepted.union(carried)))


@functools.lru_cache(maxsize=1024)
def _first_equal(now: InForce) -> InForce:
    """Return the first of all equal values: a look-up with the same object need not compare each vote."""
    return now


def _needs_hvx(votes: VoteSet) -> bool:
    return any(VOTE_OPTIONS[option].needs_hvx for option in votes.options)


def _earlier(now: InForce, option: Option | None) -> tuple[Any, bool] | None:
    """Return the last vote on an option, and whether it is known to be in force."""
    if option is None:
        return None
    known = now.known.get(option)
    if known is not None:
        return known, True
    doubtful = now.doubtful.get(option)
    return None if doubtful is None else (doubtful, False)


def _complete(option: Option, value: Any, earlier: Any, known: bool) -> Any:
    """Return the vote, with the fields reset that it leaves unset and that an earlier vote has set."""
    taken_back = VOTE_OPTIONS[option].taken_back
    # An option that can't be reset (``taken_back`` is None) counts 0 as unset (rule RPC-5).
    if value is None or (taken_back is None and value == 0):
        return taken_back
    left_unset = {}
    for name in _left_unset(value):
        # The earlier vote may have the other form of this option: its fields stay in force, too.
        before, removed = getattr(earlier, name, None), getattr(taken_back, name)
        if before is not None and not (known and before == removed):
            left_unset[name] = removed
    return attrs.evolve(value, **left_unset) if left_unset else value


def _after(earlier: Any, value: Any) -> Any:
    """Return the vote in force after this vote: fields that it leaves unset may keep their earlier values."""
    kept = {name: getattr(earlier, name) for name in _left_unset(value)}
    return attrs.evolve(value, **kept) if any(field is not None for field in kept.values()) else value


def _left_unset(value: Any) -> list[str]:
    """Return the fields that a vote does not set, and so leaves unchanged on the id."""
    about = BY_CLASS.get(type(value))
    return (
        [] if about is None else [each.name for each in about.fields if each.flag and getattr(value, each.name) is None]
    )
