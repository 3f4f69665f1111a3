"""Tests of ``fastapi_app.py``: the application on a simulated HTP, in virtual time."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from fastapi_app import app

from htppower import VoteController
from htppower.backends import RecordingBackend
from htppower.testing import VirtualTime


@pytest.fixture
def client(htp_recorder: RecordingBackend, htp_time: VirtualTime) -> Iterator[TestClient]:
    """Yield a client of the application, which is started and shut down as by a server."""
    before = app.state.make_controller
    app.state.make_controller = lambda: VoteController(htp_recorder, time=htp_time, handle_sigterm=False)
    with TestClient(app) as started:
        yield started
    app.state.make_controller = before
    htp_recorder.assert_nothing_left()


def test_requests_share_one_raise(client: TestClient, htp_recorder: RecordingBackend, htp_time: VirtualTime) -> None:
    """Three requests within the sustain time are one raise and, after it, one lowering: of clocks, then of polling."""
    htp_recorder.clear()
    for _ in range(3):
        assert client.get("/detect?seconds=0").json() == "done"
    htp_recorder.assert_calls(["setPowerConfig"] * 2)
    htp_time.advance_us(300_000)
    htp_recorder.assert_calls(["setPowerConfig"] * 4)
