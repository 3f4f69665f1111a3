"""Which votes recorded calls leave in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.native_codes import SUCCESS
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends.recording import Call


class InForce:
    """The votes in force on each power config id, as told by the calls alone.

    It shares no code with the controller's ledger: what it says may neither rest on what the controller believes, nor
    on how the controller comes to believe it.
    """

    def __init__(self) -> None:
        self._ids: dict[int, _Votes] = {}
        self._process = _Votes()

    def see(self, calls: Iterable[Call]) -> None:
        """Take in calls, in their order."""
        for call in calls:
            if call.power_config_id is None:
                continue
            if call.function == "setPowerConfig" and call.votes is not None:
                self._set(call.power_config_id, call.votes, accepted=call.code == SUCCESS)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS:
                self._ids.pop(call.power_config_id, None)

    def lose(self) -> None:
        """Note that the DSP restarted: no vote on any id, nor in the process, is in force."""
        self._process = _Votes()
        self._ids.clear()

    def votes(self, power_config_id: int | None) -> VoteSet:
        """Return the votes in force on an id and in the process; of an id that is gone only the latter."""
        if power_config_id is None:
            return VoteSet()
        own = self._ids.get(power_config_id, _Votes())
        return VoteSet(**own.whole(), **self._process.whole())

    def _set(self, power_config_id: int, votes: VoteSet, *, accepted: bool) -> None:
        own = self._ids.setdefault(power_config_id, _Votes())
        for option, vote in votes.items():
            about = VOTE_OPTIONS[option]
            if about.other_form is not None:
                # The later form supersedes the earlier.
                own.fields.pop(VOTE_OPTIONS[about.other_form].field, None)
                own.others.pop(VOTE_OPTIONS[about.other_form].field, None)
            if about.partial:
                stated = {field.name: getattr(vote, field.name) for field in about.fields}
                _take(own.fields.setdefault(about.field, {}), stated, accepted=accepted)
            elif about.process_wide:
                # FastRPC ignores a control latency of 0: it is no vote (rule RPC-5).
                ignored = about.taken_back is None and vote == 0
                _take(self._process.others, {} if ignored else {about.field: vote}, accepted=accepted)
            else:
                _take(own.others, {about.field: vote}, accepted=accepted)


@attrs.frozen
class _Votes:
    """What is in force, by name: of votes that change only what they set the fields, and every other vote."""

    fields: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    others: dict[str, Any] = attrs.field(factory=dict)

    def whole(self) -> dict[str, Any]:
        """Return the votes; none where a field that every such vote states is not known."""
        votes = dict(self.others)
        for name, stated in self.fields.items():
            about = BY_FIELD[name]
            if all(field.flag or field.name in stated for field in about.fields):
                votes[name] = type(about.taken_back)(**{field.name: stated.get(field.name) for field in about.fields})
        return votes


def _take(held: dict[str, Any], stated: dict[str, Any], *, accepted: bool) -> None:
    """Take in what a call states; of a call that failed nobody knows which part was applied."""
    for name, value in stated.items():
        if value is None:
            continue  # its set flag is 0
        if accepted:
            held[name] = value
        else:
            held.pop(name, None)
