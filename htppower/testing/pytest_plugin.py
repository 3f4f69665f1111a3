"""Fixtures for the tests of a host. pytest finds them if htppower is installed, and loads the rest on first use.

``htp_time``, ``simulated_htp``, ``htp_recorder`` and ``vote_controller`` belong together: each uses those before it.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.backends import RecordingBackend, SimulatedHtp
    from htppower.control.controller import VoteController
    from htppower.control.session import Session
    from htppower.testing.virtual_time import VirtualTime

_MARKERS = (
    "simulated_htp(**arguments): arguments of the SimulatedHtp of this test",
    "vote_controller(**arguments): arguments of the VoteController of this test, such as on_error",
)

_EXAMPLES = {"simulated_htp": "arch=79", "vote_controller": 'on_error="raise"'}
_FAILED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers with pytest."""
    for line in _MARKERS:
        config.addinivalue_line("markers", line)


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Note that a test has failed: its traceback keeps objects alive, so nothing that it leaves counts as a leak."""
    if call.when == "call" and call.excinfo is not None:
        item.stash[_FAILED] = True


@pytest.fixture
def htp_time() -> VirtualTime:
    """Return a clock that only the test moves, with ``advance_us``."""
    from htppower.testing.virtual_time import VirtualTime  # noqa: PLC0415 - loaded on first use

    return VirtualTime()


@pytest.fixture
def simulated_htp(request: pytest.FixtureRequest, htp_time: VirtualTime) -> Iterator[SimulatedHtp]:
    """Yield a simulated HTP: a V75, or another one with ``@pytest.mark.simulated_htp(arch=79)``.

    Its slow calls (``delay_calls``) move ``htp_time``. The test fails if native calls of two threads overlapped.
    """
    from htppower.backends import SimulatedHtp  # noqa: PLC0415 - loaded on first use

    made = SimulatedHtp(**{"sleep": htp_time.sleep, **_arguments(request, "simulated_htp")})
    yield made
    if made.overlaps:
        calls = "1 native call" if made.overlaps == 1 else f"{made.overlaps} native calls"
        pytest.fail(f"{calls} began during a call of another thread", pytrace=False)


@pytest.fixture
def htp_recorder(simulated_htp: SimulatedHtp, htp_time: VirtualTime) -> RecordingBackend:
    """Return a recorder in front of the simulated HTP: the backend for a controller that the host creates itself."""
    from htppower.backends import RecordingBackend  # noqa: PLC0415 - loaded on first use

    return RecordingBackend(simulated_htp, time=htp_time)


@pytest.fixture
def vote_controller(
    request: pytest.FixtureRequest, htp_recorder: RecordingBackend, simulated_htp: SimulatedHtp, htp_time: VirtualTime
) -> Iterator[VoteController]:
    """Yield a controller in virtual time; ``@pytest.mark.vote_controller(on_error="raise")`` passes arguments to it.

    It is closed after the test. The test fails if an inference has not ended by then, for example of a ticket that is
    still referenced, or if votes are in force after the close although each of its calls succeeded.
    """
    from htppower.control.controller import VoteController  # noqa: PLC0415 - loaded on first use

    opened: list[Session] = []

    class Watched(VoteController):
        def session(self, *given: Any, **named: Any) -> Session:
            opened.append(super().session(*given, **named))
            return opened[-1]

    arguments = {"time": htp_time, "handle_sigterm": False, **_arguments(request, "vote_controller")}
    with Watched(htp_recorder, **arguments) as controller:
        yield controller
        running = [] if request.node.stash.get(_FAILED, False) else _running(opened, htp_time)
        before = len(htp_recorder.calls)
    if running:
        pytest.fail("\n".join(running), pytrace=False)
    if not any(call.code for call in htp_recorder.calls_since(before)):
        left = simulated_htp.power_config_ids
        polling_us = simulated_htp.effective().rpc_polling_time_us
        if left:
            pytest.fail(f"power config ids {left} were not destroyed when the controller was closed")
        if polling_us:
            pytest.fail(f"RPC polling of {polling_us} us was not cancelled when the controller was closed")


def _running(opened: Iterable[Session], time: VirtualTime) -> list[str]:
    """Return a message for each session with an inference that has not ended."""
    if any(session.in_flight for session in opened):
        # A dropped ticket and a closed stream end soon afterwards, when they are collected and the time moves.
        gc.collect()
        time.advance_us(0)
    return [
        f"{session!r} has {session.in_flight} inference{'' if session.in_flight == 1 else 's'} that never ended: call "
        "end() of every ticket of begin(), leave every inference(), and close every stream"
        for session in opened
        if session.in_flight
    ]


def _arguments(request: pytest.FixtureRequest, marker: str) -> dict[str, Any]:
    """Return the arguments of a test's markers. A test's marker overrides its class's, which overrides its module's."""
    found: dict[str, Any] = {}
    for mark in request.node.iter_markers(marker):
        if mark.args:
            pytest.fail(f"the marker {marker} takes arguments by name, such as {_EXAMPLES[marker]}", pytrace=False)
        found = {**mark.kwargs, **found}
    return found
