"""A calibration that ends early, by Ctrl-C, an error or a failed call, clears its votes."""

from __future__ import annotations

import attrs
import pytest
from support.timed_device import QUICK, Device

from htppower.errors import VoteRejected
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed, Settings

# The smallest plan, so that a run has few points for an interrupt.
ONCE = Settings(count=1, power_count=2, period_us=20_000)


@pytest.mark.parametrize(
    ("kind", "seen", "first"), [(KeyboardInterrupt, KeyboardInterrupt, 1), (ZeroDivisionError, CalibrationFailed, 6)]
)
def test_what_comes_in_an_inference_gives_the_votes_back(
    kind: type[BaseException], seen: type[BaseException], first: int
) -> None:
    """After Ctrl-C or an error of the host in any step, no id, vote or polling is left."""
    every = Device()
    every.calibrate(ONCE, meter=every.energy())
    for at in range(first, every.inferences + 1, 23):
        device = Device()

        def fail(number: int, at: int = at) -> None:
            if number == at:
                raise kind

        device.before = fail
        with pytest.raises(seen):
            device.calibrate(ONCE, meter=device.energy())
        assert device.left() == ((), 0), at


def test_ctrl_c_while_it_idles_gives_the_votes_back() -> None:
    """After Ctrl-C between two calls, before an inference or next to a power rail, no id, vote or polling is left."""
    every = Device()
    every.calibrate(ONCE, meter=every.energy())
    for at in range(1, every.waits + 1, 5):
        device = Device()
        device.interrupted_wait = at
        with pytest.raises(KeyboardInterrupt):
            device.calibrate(ONCE, meter=device.energy())
        assert device.left() == ((), 0), at


def test_ctrl_c_in_a_call_gives_the_votes_back() -> None:
    """The votes are already in force, but no id, vote or polling is left."""
    settings = attrs.evolve(ONCE, sleep_latencies_us=(40,))
    every = Device()
    every.calibrate(settings, meter=every.energy())
    for at in range(1, every.sleeps + 1, 17):
        device = Device()
        device.interrupted_sleep = at
        with pytest.raises(KeyboardInterrupt):
            device.calibrate(settings, meter=device.energy())
        assert device.left() == ((), 0), at


def test_a_call_that_fails_ends_it_with_the_code() -> None:
    """A missing vote would falsify the measurement; the other votes are cleared."""
    device = Device()
    device.htp.fail_next(13000, nth=5)
    with pytest.raises(VoteRejected, match="13000"):
        device.calibrate()
    assert device.left() == ((), 0)


@pytest.mark.parametrize("profile", ["system_settings"])
def test_a_profile_without_votes_can_not_be_measured(profile: str) -> None:
    """CalibrationFailed suggests another profile, before any call is made."""
    device = Device()
    with pytest.raises(CalibrationFailed, match="measure with a profile that does"):
        device.calibrate(attrs.evolve(QUICK, profile=profile))
    assert not device.recorder.calls
