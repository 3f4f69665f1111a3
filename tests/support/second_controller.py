"""Another controller on the backend of a bench, and the settings of the process on that backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower import VoteController
from htppower.votes.native_codes import SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from support.bench import Bench


def second_on(bench: Bench, **options: object) -> VoteController:
    """Return another controller on the recorder and the time of a bench."""
    return VoteController(bench.recorder, time=bench.time, handle_sigterm=False, heartbeat_us=0, **options)  # type: ignore[arg-type]


def polling_us(bench: Bench) -> int:
    """Return the polling time in force."""
    return bench.effective().rpc_polling_time_us


def settings_sent(bench: Bench) -> list[tuple[int, int]]:
    """Return the polling times that were sent, each with its id."""
    return [
        (call.power_config_id or 0, config.fields["rpcPollingTimeConfig"])
        for call in bench.sets
        if (config := call.config("RPC_POLLING_TIME")) is not None
    ]


def answer_the_host(bench: Bench) -> None:
    """Let a call that is not the controller's be the one that is told of the restart."""
    assert bench.simulated.native_set(0, None) == SYSTEM_COMMUNICATION
