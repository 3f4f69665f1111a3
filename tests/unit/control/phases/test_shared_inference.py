"""One ``Inference`` object that several threads use one after the other."""

from __future__ import annotations

import contextlib
import threading

from support.hanging import WAIT_S, HangingHtp, until

from htppower import State, VoteController, VoteRejected
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED


def test_a_lowering_that_fails_leaves_the_next_use_of_the_object_alone() -> None:
    """While a thread still lowers after its end, another may begin the same object again: it runs, raised."""
    htp = HangingHtp()
    controller = VoteController(htp, time=VirtualTime(), on_error="raise", handle_sigterm=False, heartbeat_us=0)
    session = controller.session("high_performance")
    (power_config_id,) = session.power_config_ids.values()
    inference = session.inference()
    inference.__enter__()
    hang = htp.hang_next("setPowerConfig", power_config_id)
    htp.fail_next(FAILED)

    def end() -> None:
        with contextlib.suppress(VoteRejected):
            inference.__exit__(None, None, None)

    threads = [threading.Thread(target=action, daemon=True) for action in (end, inference.__enter__)]
    threads[0].start()
    assert hang.begun.wait(WAIT_S)
    threads[1].start()
    until(lambda: session.in_flight == 1)
    hang.let_go.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert (session.in_flight, session.state) == (1, State.RAISED)
    inference.__exit__(None, None, None)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    controller.close()
