"""The limit on the wake-up latency of the CPUs: held while inferences of a session run, and only on hardware."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import Bench
from support.hardware import SimulatedHardware

from htppower import VoteRejected, load_profile
from htppower.control.gate import cpu_latency
from htppower.control.gate.cpu_latency import CpuLatencyStatus
from htppower.control.gate.gate import Gate
from htppower.control.status.document import problem, status_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import Profile

pytestmark = pytest.mark.needs("descriptors")
LIMIT_US = 44


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that is used as the device."""
    path = tmp_path / "cpu_dma_latency"
    path.touch()
    monkeypatch.setattr(cpu_latency, "PATH", str(path))
    return path


@pytest.fixture
def hardware(device: Path) -> Iterator[Bench]:
    """Yield a bench on hardware."""
    bench = Bench.make(SimulatedHardware(arch=75))
    yield bench
    bench.controller.close()
    assert not opened(device)


def limited(name: str = "burst", us: int | None = LIMIT_US) -> Profile:
    """Return a shipped profile with a limit."""
    return attrs.evolve(load_profile(name), cpu_latency_us=us)


def opened(device: Path) -> int:
    """Return how often this process has the device open."""
    # The listing itself has a descriptor that is gone when it is read.
    return sum(os.path.lexists(link) and link.readlink() == device for link in Path("/proc/self/fd").iterdir())


def test_it_is_held_during_inferences_only(hardware: Bench, device: Path) -> None:
    """The first inference requests the limit and the last takes it back, also inside the sustain time."""
    session = hardware.controller.session(limited())
    with session.init():
        assert opened(device) == 0
    for _ in range(2):
        with session.inference():
            assert (opened(device), device.read_bytes()) == (1, struct.pack("=i", LIMIT_US))
            with session.inference():
                assert opened(device) == 1
            assert opened(device) == 1
            (status,) = hardware.controller.status().sessions
            assert status.cpu_latency == CpuLatencyStatus(LIMIT_US, True, None)
        assert opened(device) == 0
        hardware.time.advance_us(1000)
    # INIT raised and lowered; the first inference raised once for both.
    assert len(hardware.votes) == 3


def test_every_form_of_an_inference_holds_it(hardware: Bench, device: Path) -> None:
    """Tickets and coroutines hold it, and an inference that is dropped or whose begin fails leaves nothing behind."""
    session = hardware.controller.session(limited())
    ticket = session.begin()
    assert opened(device) == 1
    ticket.end()
    assert opened(device) == 0

    async def infer() -> None:
        async with session.ainference():
            assert opened(device) == 1

    asyncio.run(infer())
    assert opened(device) == 0
    dropped = session.inference()
    dropped.__enter__()
    assert opened(device) == 1
    del dropped
    gc.collect()
    hardware.time.advance_us(1)
    assert opened(device) == 0


def test_a_begin_that_fails_leaves_no_request(device: Path) -> None:
    """If the raise fails and raises in the host, the request is taken back soon after it."""
    bench = Bench.make(SimulatedHardware(arch=75), on_error="raise")
    session = bench.controller.session(limited())
    bench.simulated.fail_next(1009)
    with pytest.raises(VoteRejected), session.inference():
        pass
    bench.time.advance_us(1)
    assert opened(device) == 0
    bench.controller.close()


def test_an_end_that_is_interrupted_is_completed(
    hardware: Bench, device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If Ctrl-C interrupts the end before the request is taken back, the settling soon after it does that."""
    session = hardware.controller.session(limited())

    def interrupt(_gate: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    inference = session.inference()
    inference.__enter__()
    monkeypatch.setattr(Gate, "release_cpu", interrupt)
    with pytest.raises(KeyboardInterrupt):
        inference.__exit__(None, None, None)
    assert opened(device) == 1
    hardware.time.advance_us(1)
    assert opened(device) == 0


def test_a_close_and_another_profile_take_it_back(hardware: Bench, device: Path) -> None:
    """While an inference runs, another profile changes the limit, and closing ends it."""
    session = hardware.controller.session(limited())
    with session.inference():
        session.use(limited(us=10))
        assert (opened(device), device.read_bytes()) == (1, struct.pack("=i", 10))
        session.use("burst")
        assert opened(device) == 0
        session.use(limited())
        assert opened(device) == 1
        session.close()
        assert opened(device) == 0
    assert opened(device) == 0


def test_two_sessions_have_two_requests(hardware: Bench, device: Path) -> None:
    """Each session has its own descriptor, so that the kernel takes the smallest limit."""
    one, other = (hardware.controller.session(limited(us=us)) for us in (10, 20))
    with one.inference():
        with other.inference():
            assert opened(device) == 2
        assert opened(device) == 1


def test_a_device_that_can_not_be_opened(
    hardware: Bench, device: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inference runs, the status has the reason, one warning is logged, and no file is made."""
    monkeypatch.setattr(cpu_latency, "PATH", f"{device}.missing")
    session = hardware.controller.session(limited())
    for _ in range(3):
        hardware.infer(session)
    (status,) = hardware.controller.status().sessions
    assert status.cpu_latency == CpuLatencyStatus(LIMIT_US, False, f"{device}.missing: No such file or directory")
    assert [record.getMessage() for record in caplog.records] == [
        f"cpu_latency_us of 44 is not requested: {device}.missing: No such file or directory"
    ]
    assert not Path(f"{device}.missing").exists()
    monkeypatch.setattr(cpu_latency, "PATH", str(device))
    session.use(limited(us=20))
    with session.inference():
        assert opened(device) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_keeps_no_request(hardware: Bench, device: Path) -> None:
    """A child closes its copy of the descriptor, since the request lasts until the last copy is closed."""
    session = hardware.controller.session(limited())
    with session.inference():
        child = os.fork()
        if child == 0:
            os._exit(opened(device))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert opened(device) == 1


def test_nothing_is_requested_without_hardware(bench: Bench, device: Path) -> None:
    """A simulated HTP, as in a dry run, leaves the CPUs alone, and the status does not mention them."""
    session = bench.controller.session(limited())
    with session.inference():
        assert opened(device) == 0
        status = bench.controller.status()
    assert status.sessions[0].cpu_latency is None
    assert "cpu_latency" not in json.dumps(status_document(status, closed=False))


def test_the_document_has_it(hardware: Bench) -> None:
    """The JSON of a session with a limit has its state."""
    session = hardware.controller.session(limited())
    with session.inference():
        document = status_document(hardware.controller.status(), closed=False)
    assert document["sessions"][0]["cpu_latency"] == {"us": LIMIT_US, "held": True, "problem": None}
    assert problem(document) is None
