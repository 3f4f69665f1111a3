"""Which votes recorded calls leave in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.codes import SUCCESS
from htppower.ledger import Ledger
from htppower.votes import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends.recording import Call


class InForce:
    """The votes in force on each power config id, as told by the calls alone.

    It keeps a ledger of its own, so that what it says does not rest on what the controller believes.
    """

    def __init__(self) -> None:
        self._ledger = Ledger()

    def see(self, calls: Iterable[Call]) -> None:
        """Take in calls, in their order."""
        for call in calls:
            if call.function == "setPowerConfig" and call.votes is not None and call.power_config_id is not None:
                self._ledger.sending(call.power_config_id, call.votes)
                if call.code == SUCCESS:
                    self._ledger.sent(call.power_config_id, call.votes)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS and call.power_config_id is not None:
                self._ledger.drop(call.power_config_id)

    def lose(self, power_config_ids: Iterable[int]) -> None:
        """Note that the DSP restarted: no vote on these ids, nor in the process, is in force."""
        self._ledger.forget_process()
        for power_config_id in power_config_ids:
            self._ledger.forget(power_config_id)

    def votes(self, power_config_id: int | None) -> VoteSet:
        """Return the votes in force on an id and in the process; none on an id that is gone."""
        return VoteSet() if power_config_id is None else self._ledger.in_force(power_config_id)
