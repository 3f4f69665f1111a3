"""What is known to be in force on each power config id and in the process, and the difference to what is wanted.

An option is in the ledger once it has been sent: known after a call that returned 0, unknown while a call carries it
and after one that failed (the library is not atomic), and after a restart of the DSP. What a new vote set leaves unset
is taken back, so that no vote outlives the profile that cast it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.options import BY_CLASS, PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.votes.native import Option


@attrs.define
class _Entry:
    """One option: what was last sent, whether it is known to be in force, and whether it ever was accepted.

    ``other_accepted`` says the last of the other form, of which there is no entry once this one superseded it.
    """

    value: Any
    known: bool
    accepted: bool = False
    other_accepted: bool = False


class Ledger:
    """The entries of every id, and of the process. The controller's lock protects it."""

    def __init__(self) -> None:
        self._ids: dict[int, dict[Option, _Entry]] = {}
        self._process: dict[Option, _Entry] = {}

    def difference(self, power_config_id: int, wanted: VoteSet) -> VoteSet:
        """Return what must be sent so that the wanted votes are in force, and no others."""
        return VoteSet.of(dict(self._differing(self._ids.get(power_config_id, {}), wanted, VOTE_OPTIONS)))

    def process_difference(self, wanted: VoteSet) -> VoteSet:
        """Return the process-wide settings that must be sent, on any id, so that the wanted ones are in force."""
        options = [option for option in VOTE_OPTIONS if option in PROCESS_WIDE]
        return VoteSet.of(dict(self._differing({}, wanted, options)))

    def sending(self, power_config_id: int, votes: VoteSet) -> None:
        """Note that a call is about to carry these votes: until it returns, nothing is known of them."""
        for option, value in votes.items():
            entries = self._entries(power_config_id, option)
            entry = entries.get(option)
            if entry is None:
                entries[option] = entry = _Entry(value, known=False)
            else:
                entry.value, entry.known = _after(entry.value, value), False
            superseded = _other_form(entries, option)
            if superseded is not None:
                superseded.known = False
                entry.accepted |= superseded.other_accepted

    def sent(self, power_config_id: int, votes: VoteSet) -> None:
        """Note that the call returned 0; what a vote supersedes is gone."""
        for option in votes.options:
            entries = self._entries(power_config_id, option)
            entry, superseded = entries[option], _other_form(entries, option)
            entry.known = entry.accepted = True
            if superseded is not None:
                entry.other_accepted = superseded.accepted
                entries.pop(VOTE_OPTIONS[option].other_form or option)

    def was_accepted(self, power_config_id: int, option: Option) -> bool:
        """Return whether the library has ever taken this option, on the id or, process-wide, on any."""
        entry = self._entries(power_config_id, option).get(option)
        return entry is not None and entry.accepted

    def refused(self, power_config_id: int, option: Option) -> None:
        """Note that the platform does not have an option, so nothing of it is in force."""
        self._entries(power_config_id, option).pop(option, None)

    def forget(self, power_config_id: int) -> None:
        """Know no longer what is in force on an id."""
        for entry in self._ids.get(power_config_id, {}).values():
            entry.known = False

    def forget_process(self) -> None:
        """Know no longer which process-wide settings are in force."""
        for entry in self._process.values():
            entry.known = False

    def drop(self, power_config_id: int) -> None:
        """Remove an id that is gone, and with it every vote on it."""
        self._ids.pop(power_config_id, None)

    def in_force(self, power_config_id: int) -> VoteSet:
        """Return the votes known to be in force on an id, and in the process."""
        entries = {**self._ids.get(power_config_id, {}), **self._process}
        return VoteSet.of({option: entry.value for option, entry in entries.items() if entry.known})

    def knows(self, power_config_id: int) -> bool:
        """Return whether everything that was ever sent on an id is known to be in force, or was taken back."""
        return all(entry.known for entry in self._ids.get(power_config_id, {}).values())

    def process_settings(self) -> VoteSet:
        """Return the process-wide settings known to be in force."""
        return VoteSet.of({option: entry.value for option, entry in self._process.items() if entry.known})

    def _entries(self, power_config_id: int, option: Option) -> dict[Option, _Entry]:
        return self._process if option in PROCESS_WIDE else self._ids.setdefault(power_config_id, {})

    def _differing(
        self, ours: dict[Option, _Entry], wanted: VoteSet, options: Iterable[Option]
    ) -> Iterator[tuple[Option, Any]]:
        superseded = {VOTE_OPTIONS[option].other_form for option in wanted.options}
        for option in options:
            entries = self._process if option in PROCESS_WIDE else ours
            entry, complete = entries.get(option), wanted.get(option)
            if complete is None and (entry is None or option in superseded):
                continue
            for earlier in (entry, _other_form(entries, option)):
                if earlier is not None:
                    complete = _complete(option, complete, earlier)
            is_there = entry is not None and entry.known and _after(entry.value, complete) == entry.value
            if complete is not None and not is_there:
                yield option, complete
                superseded.add(VOTE_OPTIONS[option].other_form)


def _complete(option: Option, value: Any, entry: _Entry) -> Any:
    """Return the vote with what takes back the parts of an earlier one that it does not mention."""
    taken_back = VOTE_OPTIONS[option].taken_back
    # Where nothing takes a vote back, 0 is no vote (rule RPC-5).
    if value is None or (taken_back is None and value == 0):
        return taken_back
    left_unset = {}
    for name in _left_unset(value):
        # What an earlier vote in the other form has set stays, too.
        earlier, removed = getattr(entry.value, name, None), getattr(taken_back, name)
        if earlier is not None and not (entry.known and earlier == removed):
            left_unset[name] = removed
    return attrs.evolve(value, **left_unset) if left_unset else value


def _other_form(entries: Mapping[Option, _Entry], option: Option) -> _Entry | None:
    """Return the entry of the option's other form, which a vote on this one supersedes."""
    other = VOTE_OPTIONS[option].other_form
    return None if other is None else entries.get(other)


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
