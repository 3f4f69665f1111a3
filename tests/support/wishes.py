"""Settings of the process, with what sessions wish for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers import hmx, hvx

from htppower.control.core.process_settings import ProcessSettings
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Collection

    from htppower.votes.native import Option

NOTHING = VoteSet()
OTHER_VOTES = VoteSet(hvx(), hmx(), hmx_timeout_us=5000, ddr_perf_mode=True)
LOUD, QUIET = VoteSet(rpc_polling_time_us=9999), VoteSet(rpc_polling_time_us=0)


def empty(missing: Collection[Option] = ()) -> ProcessSettings:
    """Return settings that nobody asks for and nothing is known of."""
    return ProcessSettings(missing)


def asking(*wishes: VoteSet) -> ProcessSettings:
    """Return settings with these sessions' wishes, numbered from 1."""
    settings = empty()
    for number, wish in enumerate(wishes, 1):
        settings.ask(number, wish)
    return settings


def cast(settings: ProcessSettings) -> VoteSet:
    """Note a successful call with what differs, and return what it carried."""
    votes = settings.difference()
    settings.sent(votes, settings.sending(votes))
    return votes
