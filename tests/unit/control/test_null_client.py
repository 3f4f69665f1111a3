"""Power config ID 0, the NULL client: the controller makes no call on it."""

from __future__ import annotations

import pytest

from htppower import VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.errors import VoteRejected
from htppower.testing import VirtualTime
from htppower.votes.native_codes import INVALID_INPUT


class GivesZero(SimulatedHtp):
    """A backend whose IDs are all 0."""

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Return 0."""
        super().create_power_config_id(device_id, core_id)
        return 0


def test_an_id_0_is_a_create_that_failed() -> None:
    """If the library returns id 0, the session reports a failed create, and no vote is sent."""
    recorder = RecordingBackend(GivesZero(arch=75), time=VirtualTime())
    with VoteController(backend=recorder, on_error="raise", time=VirtualTime()) as controller:
        with pytest.raises(VoteRejected) as raised, controller.session("burst") as session, session.inference():
            pass
        assert raised.value.code == INVALID_INPUT
        assert raised.value.function == "createPowerConfigId"
    assert {call.function for call in recorder.calls} == {"createPowerConfigId"}
