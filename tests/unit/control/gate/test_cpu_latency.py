"""The limit on the wake-up latency of the CPUs: held while inferences of a session run, and only on hardware."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import struct
import sys
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import Bench
from support.hardware import SimulatedHardware

from htppower import VoteRejected, load_profile
from htppower.control.gate import cpu_latency
from htppower.control.gate.cpu_latency import NO_LIMIT_US, CpuLatencyStatus
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
    assert not descriptors(device)


def limited(name: str = "burst", us: int | None = LIMIT_US) -> Profile:
    """Return a shipped profile with a limit."""
    return attrs.evolve(load_profile(name), cpu_latency_us=us)


def descriptors(device: Path) -> list[int]:
    """Return the descriptors of the device in this process."""
    # The listing itself has a descriptor that is gone when it is read.
    links = [link for link in Path("/proc/self/fd").iterdir() if os.path.lexists(link) and link.readlink() == device]
    return [int(link.name) for link in links]


def requests(device: Path) -> list[int]:
    """Return what each descriptor of the device has last written, in us."""
    return [last_us(descriptor) for descriptor in descriptors(device)]


def last_us(descriptor: int) -> int:
    """Return what a descriptor has last written, in us; its position is behind it."""
    (us,) = struct.unpack("=i", os.pread(descriptor, 4, os.lseek(descriptor, 0, os.SEEK_CUR) - 4))
    assert isinstance(us, int)
    return us


def test_it_is_held_during_inferences_only(hardware: Bench, device: Path) -> None:
    """The first inference requests the limit and the last takes it back, also inside the sustain time."""
    session = hardware.controller.session(limited())
    with session.init():
        assert requests(device) == []
    for _ in range(2):
        with session.inference():
            assert requests(device) == [LIMIT_US]
            with session.inference():
                assert requests(device) == [LIMIT_US]
            assert requests(device) == [LIMIT_US]
            assert held(hardware)
        assert requests(device) == [NO_LIMIT_US]
        assert not held(hardware)
        hardware.time.advance_us(1000)
    # Two begins and two ends, by one descriptor; the inner inferences write nothing.
    assert len(device.read_bytes()) == 4 * 4
    # INIT raised and lowered; the first inference raised once for both.
    assert len(hardware.votes) == 3


def held(bench: Bench) -> bool:
    """Return whether the status of the only session says that its limit is requested."""
    (session,) = bench.controller.status().sessions
    assert session.cpu_latency is not None
    assert session.cpu_latency == CpuLatencyStatus(LIMIT_US, session.cpu_latency.held, None)
    return session.cpu_latency.held


def test_every_form_of_an_inference_holds_it(hardware: Bench, device: Path) -> None:
    """Tickets and coroutines hold it, and an inference that is dropped leaves no request behind."""
    session = hardware.controller.session(limited())
    ticket = session.begin()
    assert requests(device) == [LIMIT_US]
    ticket.end()
    assert requests(device) == [NO_LIMIT_US]

    async def infer() -> None:
        async with session.ainference():
            assert requests(device) == [LIMIT_US]

    asyncio.run(infer())
    assert requests(device) == [NO_LIMIT_US]
    dropped = session.inference()
    dropped.__enter__()
    assert requests(device) == [LIMIT_US]
    del dropped
    gc.collect()
    hardware.time.advance_us(1)
    assert requests(device) == [NO_LIMIT_US]


def test_a_begin_that_fails_leaves_no_request(device: Path) -> None:
    """If the raise fails and raises in the host, the request is taken back soon after it."""
    bench = Bench.make(SimulatedHardware(arch=75), on_error="raise")
    session = bench.controller.session(limited())
    bench.simulated.fail_next(1009)
    with pytest.raises(VoteRejected), session.inference():
        pass
    bench.time.advance_us(1)
    assert requests(device) == [NO_LIMIT_US]
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
    assert requests(device) == [LIMIT_US]
    hardware.time.advance_us(1)
    assert requests(device) == [NO_LIMIT_US]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_what_an_interrupted_write_has_written_is_in_doubt(
    hardware: Bench, device: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """If Ctrl-C interrupts a begin or an end right after its write, this and the next inference are not misled."""
    writes = iter(range(1, 100))

    class Interrupted(FileIO):
        """Raises after one of its writes."""

        def write(self, data: Any) -> int:
            count = super().write(data)
            if next(writes) == number:
                raise KeyboardInterrupt
            return count

    opener = SimpleNamespace(open=lambda mode, buffering: Interrupted(device, mode))
    monkeypatch.setattr(cpu_latency, "Path", lambda _path: opener)
    session = hardware.controller.session(limited())
    for _ in range(3):
        with suppress(KeyboardInterrupt), session.inference():
            assert requests(device) == [LIMIT_US]
        assert requests(device) == [NO_LIMIT_US]


def test_a_close_and_another_profile_close_it(hardware: Bench, device: Path) -> None:
    """While an inference runs, another profile changes the limit, or closes the device, as the close does."""
    session = hardware.controller.session(limited())
    with session.inference():
        session.use(limited(us=10))
        assert requests(device) == [10]
        session.use("burst")
        assert requests(device) == []
        session.use(limited())
        assert requests(device) == [LIMIT_US]
        session.close()
        assert requests(device) == []
    assert requests(device) == []


def test_another_limit_between_inferences(hardware: Bench, device: Path) -> None:
    """Without an inference, another limit is not requested, and the next inference requests it by the open device."""
    session = hardware.controller.session(limited())
    hardware.infer(session)
    session.use(limited(us=10))
    assert requests(device) == [NO_LIMIT_US]
    with session.inference():
        assert requests(device) == [10]
    session.use("burst")
    assert requests(device) == []


def test_two_sessions_have_two_requests(hardware: Bench, device: Path) -> None:
    """Each session has its own descriptor, so that the kernel takes the smallest limit."""
    one, other = (hardware.controller.session(limited(us=us)) for us in (10, 20))
    with one.inference():
        with other.inference():
            assert len(descriptors(device)) == 2
        statuses = [session.cpu_latency for session in hardware.controller.status().sessions]
        assert statuses == [CpuLatencyStatus(10, True, None), CpuLatencyStatus(20, False, None)]
    other.close()
    assert len(descriptors(device)) == 1


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
        assert requests(device) == [20]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_can_not_be_written(hardware: Bench, device: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inference runs, the status has the reason, and nothing stays open."""
    monkeypatch.setattr(cpu_latency, "PATH", "/dev/full")
    session = hardware.controller.session(limited())
    hardware.infer(session)
    (status,) = hardware.controller.status().sessions
    assert status.cpu_latency == CpuLatencyStatus(LIMIT_US, False, "/dev/full: No space left on device")
    assert descriptors(Path("/dev/full")) == descriptors(device) == []


@pytest.mark.skipif(not os.access(cpu_latency.PATH, os.R_OK | os.W_OK), reason="needs the device of Linux, and root")
def test_the_kernel_takes_the_limit_and_gives_it_up() -> None:
    """The kernel's limit, which is the smallest of all requests, is ours during an inference only."""
    # No other process requests this number; one that requests less does not disturb.
    us = 500_000 + os.getpid() % 500_000
    bench = Bench.make(SimulatedHardware(arch=75))
    session = bench.controller.session(limited(us=us))
    with Path(cpu_latency.PATH).open("rb", buffering=0) as device:

        def limit_us() -> int:
            return int.from_bytes(os.pread(device.fileno(), 4, 0), sys.byteorder)

        for _ in range(2):
            assert limit_us() != us
            with session.inference():
                assert limit_us() <= us
        assert limit_us() != us
    bench.controller.close()


def test_a_forked_child_keeps_no_request(hardware: Bench, device: Path) -> None:
    """A child closes its copy of the descriptor without a write, which would take back the parent's request."""
    session = hardware.controller.session(limited())
    with session.inference():
        child = os.fork()
        if child == 0:
            os._exit(len(descriptors(device)))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert requests(device) == [LIMIT_US]


def test_a_copy_of_the_descriptor_keeps_no_request(hardware: Bench, device: Path) -> None:
    """A copy that a child has by a fork of C code requests nothing after the close; a program that it runs has none."""
    session = hardware.controller.session(limited())
    with session.inference():
        (descriptor,) = descriptors(device)
        assert not os.get_inheritable(descriptor)
        copy = os.dup(descriptor)
        session.close()
        assert last_us(copy) == NO_LIMIT_US
        os.close(copy)


def test_nothing_is_requested_without_hardware(bench: Bench, device: Path) -> None:
    """A simulated HTP, as in a dry run, leaves the CPUs alone, and the status does not mention them."""
    session = bench.controller.session(limited())
    with session.inference():
        assert requests(device) == []
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
