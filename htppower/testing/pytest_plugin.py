"""Fixtures for the tests of a host. pytest finds them where htppower is installed, and loads the rest on first use.

``htp_time``, ``simulated_htp``, ``htp_recorder`` and ``vote_controller`` belong together: each rests on those before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.backends import RecordingBackend, SimulatedHtp
    from htppower.control.controller import VoteController
    from htppower.testing.virtual_time import VirtualTime

_MARKERS = (
    "simulated_htp(**arguments): arguments of the SimulatedHtp of this test",
    "vote_controller(**arguments): arguments of the VoteController of this test, such as on_error",
)


_EXAMPLES = {"simulated_htp": "arch=79", "vote_controller": 'on_error="raise"'}


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the markers."""
    for line in _MARKERS:
        config.addinivalue_line("markers", line)


@pytest.fixture
def htp_time() -> VirtualTime:
    """Return time that only the test moves, by ``advance_us``."""
    from htppower.testing.virtual_time import VirtualTime  # noqa: PLC0415 - see the top of the page

    return VirtualTime()


@pytest.fixture
def simulated_htp(request: pytest.FixtureRequest, htp_time: VirtualTime) -> SimulatedHtp:
    """Return a simulated HTP, a V75 unless ``@pytest.mark.simulated_htp(arch=79)`` says otherwise.

    Its slow calls (``delay_calls``) move ``htp_time``.
    """
    from htppower.backends import SimulatedHtp  # noqa: PLC0415 - see the top of the page

    return SimulatedHtp(**{"sleep": htp_time.sleep, **_arguments(request, "simulated_htp")})


@pytest.fixture
def htp_recorder(simulated_htp: SimulatedHtp, htp_time: VirtualTime) -> RecordingBackend:
    """Return a recorder in front of the simulated HTP: the backend for a controller that the host makes itself."""
    from htppower.backends import RecordingBackend  # noqa: PLC0415 - see the top of the page

    return RecordingBackend(simulated_htp, time=htp_time)


@pytest.fixture
def vote_controller(
    request: pytest.FixtureRequest, htp_recorder: RecordingBackend, simulated_htp: SimulatedHtp, htp_time: VirtualTime
) -> Iterator[VoteController]:
    """Yield a controller in virtual time; ``@pytest.mark.vote_controller(on_error="raise")`` hands it arguments.

    It is closed after the test. The test fails where something is in force then although every call of the closing
    succeeded.
    """
    from htppower.control.controller import VoteController  # noqa: PLC0415 - see the top of the page

    arguments = {"time": htp_time, "handle_sigterm": False, **_arguments(request, "vote_controller")}
    with VoteController(htp_recorder, **arguments) as controller:
        yield controller
        before = len(htp_recorder.calls)
    if not any(call.code for call in htp_recorder.calls_since(before)):
        left = simulated_htp.power_config_ids
        polling_us = simulated_htp.effective().rpc_polling_time_us
        if left:
            pytest.fail(f"power config ids {left} were not destroyed when the controller was closed")
        if polling_us:
            pytest.fail(f"RPC polling of {polling_us} us was not given back when the controller was closed")


def _arguments(request: pytest.FixtureRequest, marker: str) -> dict[str, Any]:
    """Return what the markers of a test say, those of the test before those of its class and module."""
    found: dict[str, Any] = {}
    for mark in request.node.iter_markers(marker):
        if mark.args:
            pytest.fail(f"the marker {marker} takes arguments by name, such as {_EXAMPLES[marker]}", pytrace=False)
        found = {**mark.kwargs, **found}
    return found
