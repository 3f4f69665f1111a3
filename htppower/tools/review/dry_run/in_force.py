"""The votes in force after recorded calls."""

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
    """The votes in force on each power config id, derived only from the calls.

    It shares no code with the controller's ledger, so that it can't repeat an error of the controller.
    """

    def __init__(self) -> None:
        self._ids: dict[int, _Votes] = {}
        self._process = _Votes()

    def see(self, calls: Iterable[Call]) -> None:
        """Apply calls, in their order."""
        for call in calls:
            if call.power_config_id is None:
                continue
            if call.function == "setPowerConfig" and call.votes is not None:
                self._set(call.power_config_id, call.votes, accepted=call.code == SUCCESS)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS:
                self._ids.pop(call.power_config_id, None)

    def lose(self) -> None:
        """Apply a restart of the DSP: no vote is in force on any id, or in the process."""
        self._process = _Votes()
        self._ids.clear()

    def votes(self, power_config_id: int | None) -> VoteSet:
        """Return the votes in force on an id and in the process; for a destroyed id only the votes in the process."""
        if power_config_id is None:
            return VoteSet()
        own = self._ids.get(power_config_id, _Votes())
        return VoteSet(**own.whole(), **self._process.whole())

    def _set(self, power_config_id: int, votes: VoteSet, *, accepted: bool) -> None:
        own = self._ids.setdefault(power_config_id, _Votes())
        for option, vote in votes.items():
            about = VOTE_OPTIONS[option]
            if about.other_form is not None:
                # The later form of a vote replaces the earlier.
                own.fields.pop(VOTE_OPTIONS[about.other_form].field, None)
                own.others.pop(VOTE_OPTIONS[about.other_form].field, None)
            if about.partial:
                stated = {field.name: getattr(vote, field.name) for field in about.fields}
                _apply(own.fields.setdefault(about.field, {}), stated, accepted=accepted)
            elif about.process_wide:
                # FastRPC ignores a control latency of 0, so it does not count as a vote (rule RPC-5).
                ignored = about.taken_back is None and vote == 0
                _apply(self._process.others, {} if ignored else {about.field: vote}, accepted=accepted)
            else:
                _apply(own.others, {about.field: vote}, accepted=accepted)


@attrs.frozen(repr=False, eq=False)
class _Votes:
    """Votes in force, by name: field by field for votes that change only the fields they set, otherwise as a whole."""

    fields: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    others: dict[str, Any] = attrs.field(factory=dict)

    def whole(self) -> dict[str, Any]:
        """Return the votes. Leave out a vote if one of its fields is unknown, unless the field may be unset."""
        votes = dict(self.others)
        for name, stated in self.fields.items():
            about = BY_FIELD[name]
            if all(field.flag or field.name in stated for field in about.fields):
                votes[name] = type(about.taken_back)(**{field.name: stated.get(field.name) for field in about.fields})
        return votes


def _apply(held: dict[str, Any], stated: dict[str, Any], *, accepted: bool) -> None:
    """Apply the statement of a call. After a failed call, everything that it states is unknown."""
    for name, value in stated.items():
        if value is None:
            continue  # its set flag is 0
        if accepted:
            held[name] = value
        else:
            held.pop(name, None)
