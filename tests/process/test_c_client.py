"""``htppower.h`` with a service: leases, inferences, windows, refusals, lost connections, threads, forks."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.c_driver import PROGRAMS, compiled_driver, driven
from support.compiled import compile_program
from support.fake_service import faked, right
from support.service_process import environment, served, sums

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# More than the age of the sums of a service, in seconds.
SUMS_AGE_S = 0.15


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the driver of the header."""
    return compiled_driver(tmp_path_factory)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the socket of a service that runs for all tests of this file."""
    socket = tmp_path_factory.mktemp("service") / "socket"
    with served(socket):
        yield socket


@pytest.fixture(autouse=True)
def _leaves_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Assert that no lease is left at that service."""
    yield
    if "place" in request.fixturenames:
        wait_for(request.getfixturevalue("place"), leases=0)


def in_flight(place: Path) -> int:
    """Return how many inferences run at a service."""
    time.sleep(SUMS_AGE_S)
    return sums(place)["in_flight"]


def wait_for(place: Path, **expected: int) -> None:
    """Wait until the sums of a service are these."""
    until_s = time.monotonic() + 30
    while (found := sums(place)) | expected != found:
        assert time.monotonic() < until_s, found
        time.sleep(0.01)


def wait_for_votes(begin: Any) -> None:
    """Begin inferences until one has votes: the client tries to connect once in a second or two."""
    until_s = time.monotonic() + 30
    while not begin():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def test_a_lease_that_is_held_again_is_released_before(driver: Path, place: Path, tmp_path: Path) -> None:
    """The service has one lease for it; without a service, too, the client can be closed afterwards."""
    for at in (place, tmp_path / "none"):
        with driven(driver, at) as client:
            assert client.does("hold 0 burst preview") == 0
            assert client.does("hold 0 balanced preview") == 0
            if at == place:
                wait_for(place, leases=1)
                assert client.does("begin 0") == 1
                assert in_flight(place) == 1


def test_inferences_that_overlap_are_one_for_the_service(driver: Path, place: Path) -> None:
    """The first begins it, and the last ends it; an end too many has no effect."""
    with driven(driver, place) as client:
        assert client.does("hold 0 burst preview") == 0
        assert [client.does("begin 0"), client.does("begin 0")] == [1, 1]
        client.does("end 0")
        assert in_flight(place) == 1
        client.does("end 0")
        client.does("end 0")
        assert in_flight(place) == 0
        assert client.does("begin 0") == 1
        assert client.end() == []


def test_a_window_ends_by_itself(driver: Path, place: Path) -> None:
    """The votes stay up after the end, and come down after the window."""
    with driven(driver, place) as client:
        client.does("hold 0 high_performance preview 2000000")
        assert client.does("begin 0") == 1
        client.does("end 0")
        assert in_flight(place) == 1
        wait_for(place, in_flight=0)


def test_a_window_needs_no_messages(driver: Path, tmp_path: Path) -> None:
    """A thousand inferences within half a window cost one message."""
    place = tmp_path / "socket"
    with faked(place, lambda message: [right(message)]) as service, driven(driver, place) as client:
        client.does("hold 0 burst preview 600000000")
        for _ in range(1000):
            assert client.does("begin 0") == 1
            client.does("end 0")
        client.end()
    assert [message["do"] for message in service.got] == ["hello", "hold", "begin"]
    assert service.got[2] == {"do": "begin", "id": 3, "lease": 7, "inference": 0, "window_us": 600_000_000}


def test_after_half_a_window_a_begin_is_sent_again(driver: Path, tmp_path: Path) -> None:
    """So each inference that begins has at least half the window left."""
    place = tmp_path / "socket"
    with faked(place, lambda message: [right(message)]) as service, driven(driver, place) as client:
        client.does("hold 0 burst preview 100000")
        assert client.does("begin 0") == 1
        time.sleep(0.06)
        assert client.does("begin 0") == 1
        client.end()
    assert [message["do"] for message in service.got] == ["hello", "hold", "begin", "begin"]


def test_messages_say_all_that_was_requested(driver: Path, tmp_path: Path) -> None:
    """Every field arrives, with quotes and control characters escaped."""
    place = tmp_path / "socket"
    with faked(place, lambda message: [right(message)]) as service, driven(driver, place) as client:
        assert client.does("hold 0 burst vor\x01führung\x1f 2000000 31536000000000 3") == 0
        client.does("use 0 balanced")
        client.does("release 0")
        client.does("hold 1 burst preview")
        assert client.does("begin 1") == 1
        client.does("end 1")
        client.end()
    assert service.got == [
        {"do": "hello", "id": 1, "protocol": 1, "name": "driver"},
        {
            "do": "hold",
            "id": 2,
            "profile": "burst",
            "reason": "vor\x01führung\x1f",
            "owner": 'driver "quoted"\\',
            "deadline_us": 31_536_000_000_000,
            "device_id": 0,
            "core_ids": [0, 3],
        },
        {"do": "use", "id": 3, "lease": 7, "profile": "balanced"},
        {"do": "release", "id": 4, "lease": 7},
        {"do": "hold", "id": 5, "profile": "burst", "reason": "preview", "device_id": 0},
        {"do": "begin", "id": 6, "lease": 7, "inference": 6},
        {"do": "end", "lease": 7, "inference": 6},
    ]


def test_a_refused_lease_does_nothing(driver: Path, place: Path) -> None:
    """The result says so, the last error says why and what to do, and nothing else is disturbed."""
    with driven(driver, place) as client:
        result, error = client.say("hold 0 brust preview")
        assert result == -1
        assert "brust" in error
        assert "burst" in error
        for verb in ("begin", "end", "use", "release"):
            assert client.does(f"{verb} 0") == 0
        assert client.does("hold 1 burst preview") == 0
        assert client.say("begin 1") == (1, "")
        assert client.end() == []


@pytest.mark.parametrize(
    "text",
    ["x" * 300, "é" * 201, "é" * 1500, '"' * 300, "\\" * 2040],
    ids=["x", "é", "és", "quotes", "slashes"],
)
def test_a_text_that_is_too_long_is_refused(driver: Path, place: Path, text: str) -> None:
    """Whether the service refuses it or the client, the connection stays."""
    with driven(driver, place) as client:
        assert client.does(f"hold 0 burst {text}") == -1
        assert client.does("hold 0 burst " + "é" * 200) == 0
        assert client.does("begin 0") == 1


def test_bytes_that_are_not_utf_8_are_refused(driver: Path, place: Path) -> None:
    """The service can't read the id of such a line; its refusal is the answer all the same."""
    with driven(driver, place) as client:
        result, error = client.say("hold 0 burst vor\udcfchrung")
        assert result == -1
        assert "is not JSON" in error
        assert client.longest_s < 2
        assert client.does("connected") == 1


def test_a_profile_can_be_changed(driver: Path, place: Path) -> None:
    """A refused change leaves the lease as it was."""
    with driven(driver, place) as client:
        client.does("hold 0 burst preview")
        assert client.does("use 0 balanced") == 0
        result, error = client.say("use 0 brust")
        assert result == -1
        assert "burst" in error
        assert client.does("begin 0") == 1


def test_a_lease_ends_at_its_deadline(driver: Path, place: Path) -> None:
    """The next begin says so, once, and further inferences have no votes."""
    with driven(driver, place) as client:
        client.does("hold 0 burst preview 0 500000")
        assert client.does("begin 0") == 1
        time.sleep(0.8)
        client.does("end 0")
        assert [client.does("begin 0"), client.does("begin 0")] == [0, 0]
        assert client.does("connected") == 1
        (said,) = client.end()
        assert "a lease has ended, so its inferences have no votes: lease 1 does not exist" in said


def test_a_client_connects_again(driver: Path, tmp_path: Path) -> None:
    """After a service was killed, another has the leases again, and the inference that runs in one of them."""
    place = tmp_path / "socket"
    with driven(driver, place) as client:
        with served(place) as service:
            # There was no service at the start.
            client.does("hold 0 burst first")
            client.does("hold 1 burst second")
            wait_for_votes(lambda: client.does("begin 0"))
            assert client.does("begin 1") == 1
            service.send_signal(signal.SIGKILL)
            service.wait(60)
            client.does("end 1")
            assert client.does("begin 1") == 0
            client.does("end 1")
        with served(place):
            wait_for_votes(lambda: client.does("begin 1"))
            assert in_flight(place) == 2
            assert sums(place)["leases"] == 2
        said = client.end()
        assert [each.partition(":")[2].partition(":")[0] for each in said] == [
            " no votes",
            " the service is reached again",
            " no votes",
            " the service is reached again",
        ]


def test_a_forked_child_sends_nothing(driver: Path, place: Path) -> None:
    """Its functions do nothing, and what it closes is its own copy."""
    with driven(driver, place) as client:
        client.does("hold 0 burst preview")
        assert client.does("child 0") == 10
        assert client.does("begin 0") == 1
        assert client.does("child 0") == 10
        assert in_flight(place) == 1


@pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="this system does not tell the flags of descriptors")
def test_a_program_that_the_host_starts_has_no_connection(driver: Path, place: Path) -> None:
    """The socket is closed on exec: otherwise a lease would not end with the host."""
    with driven(driver, place) as client:
        assert client.does("connected") == 1
        process = Path(f"/proc/{client.pid}")
        (socket,) = (each for each in (process / "fd").iterdir() if str(each.readlink()).startswith("socket:"))
        flags = (process / "fdinfo" / socket.name).read_text(encoding="ascii").partition("flags:")[2].split()[0]
        assert int(flags, 8) & os.O_CLOEXEC


def test_a_closed_client_does_nothing(driver: Path, place: Path) -> None:
    """Its leases end, and their functions may be called."""
    with driven(driver, place) as client:
        client.does("hold 0 burst preview")
        client.does("begin 0")
        client.does("close")
        assert client.does("connected") == 0
        for verb in ("begin", "end", "use", "release", "hold", "close"):
            assert client.does(f"{verb} 0") == 0
        wait_for(place, leases=0)


def test_a_service_that_is_full_is_named_as_the_reason(driver: Path, tmp_path: Path) -> None:
    """The refusal of a connection is what the client says."""
    place, file = tmp_path / "socket", tmp_path / "service.yaml"
    file.write_text("service: npu\nusers:\n  - {user: default, most_connections: 0}\n", encoding="utf-8")
    with served(place, str(file)), driven(driver, place) as client:
        (said,) = client.end()
    assert "no votes" in said
    assert "connections" in said


def test_threads_share_a_client(tmp_path: Path) -> None:
    """Four threads infer on one lease and on their own, without a data race, and leave nothing."""
    program = tmp_path / "threads"
    source = PROGRAMS / "threads.c"
    compile_program(source, program, "-g", "-pthread", "-fsanitize=thread")
    place = tmp_path / "socket"
    with served(place):
        done = subprocess.run(
            [str(program)], env=environment(place), capture_output=True, text=True, check=False, timeout=120
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "1600\n", "")
        assert sums(place)["leases"] == 0
