"""The clients of threads and of coroutines, against a real service and against ones that misbehave."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.serving import LONGEST_S, place_of, served

from htppower.backends import SimulatedHtp
from htppower.client import Client, ServiceRefused, connect, connect_async
from htppower.client import conversation as talks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_an_inference_has_votes_and_the_end_lowers(tmp_path: Path) -> None:
    """A lease raises at its inference, follows ``use``, and ends with its release."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        with client.hold("high_performance", reason="preview") as lease:
            assert (client.connected, lease.active, lease.profile) == (True, True, "high_performance")
            with lease.inference():
                assert service.raised() == 1
                lease.use("balanced")
                (session,) = service.controller.status().sessions
                assert (session.profile, lease.profile) == ("balanced", "balanced")
            service.until(raised=0)
        assert not service.controller.status().sessions
        lease.release()


def test_what_the_service_refuses_is_an_error(tmp_path: Path) -> None:
    """A wrong name raises at hold and at use, and the lease keeps its profile."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        with pytest.raises(ServiceRefused, match="did you mean burst") as caught:
            client.hold("brst", reason="preview")
        assert (caught.value.error, caught.value.hint) == ("profile", "did you mean burst?")
        lease = client.hold("burst", reason="preview")
        with pytest.raises(ServiceRefused):
            lease.use("brst")
        assert lease.profile == "burst"


def test_a_window_saves_messages(tmp_path: Path) -> None:
    """A thousand inferences in a window are one message, and the votes stay up between them."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        lease = client.hold("high_performance", reason="preview", window_us=60_000_000)
        for _ in range(1000):
            with lease.inference():
                pass
            assert service.raised() == 1
        status = client.status()
        assert status is not None
        assert status["id"] <= 4
        assert status["leases"][0]["in_flight"] == 1


def test_without_a_service_inferences_run_and_one_warning_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is raised for the host, and nothing is logged again."""
    with connect("test", path=str(tmp_path / "none")) as client:
        lease = client.hold("burst", reason="preview")
        for _ in range(3):
            with lease.inference():
                assert not lease.active
        assert client.status() is None
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "no votes from the service" in warnings[0].getMessage()


def test_leases_and_inferences_are_renewed_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next begin connects again, requests each lease, and begins the inferences that run."""
    monkeypatch.setattr(talks, "FIRST_PAUSE_S", 0.0)
    with connect("test", path=place_of(tmp_path)) as client:
        with served(tmp_path):
            first = client.hold("burst", reason="first")
            second = client.hold("balanced", reason="second")
            running = first.begin()
        second.begin()  # notices that the service has ended
        with served(tmp_path) as service:
            second.begin()
            status = client.status()
            assert status is not None
            assert {lease["reason"]: lease["in_flight"] for lease in status["leases"]} == {"first": 1, "second": 2}
            first.end(running)
            service.until(raised=2)
            status = client.status()
            assert status is not None
            assert {lease["reason"]: lease["in_flight"] for lease in status["leases"]} == {"first": 0, "second": 2}


def test_a_lease_that_has_ended_costs_only_the_votes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After its deadline a begin is refused; the inference runs, and one WARNING says why it has no votes."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        lease = client.hold("high_performance", reason="preview", deadline_us=20_000)
        with lease.inference():
            service.until(raised=0)
        for _ in range(3):
            with lease.inference():
                assert service.raised() == 0
        lease.release()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "has ended" in caplog.text


def test_a_refused_begin_ends_neither_the_lease_nor_the_others(tmp_path: Path) -> None:
    """One inference too many has no votes; the ends of the others, and the release, still reach the service."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        lease = client.hold("high_performance", reason="preview")
        numbers = [lease.begin() for _ in range(257)]
        assert lease.active
        for number in numbers:
            lease.end(number)
        service.until(raised=0)
        with lease.inference():
            assert service.raised() == 1
        lease.release()
        assert not service.controller.status().sessions


def test_a_closed_client_connects_again_at_the_next_begin(tmp_path: Path) -> None:
    """Until then its leases are not active, and a window does not pretend that votes are up."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        lease = client.hold("high_performance", reason="preview", window_us=60_000_000)
        lease.begin()
        client.close()
        assert not lease.active
        service.until(raised=0)
        lease.begin()
        assert (client.connected, lease.active, service.raised()) == (True, True, 1)


def test_a_window_ends_with_the_deadline(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After the deadline a begin asks the service, and learns that the lease has ended."""
    with served(tmp_path) as service, connect("test", path=service.path) as client:
        lease = client.hold("high_performance", reason="preview", window_us=60_000_000, deadline_us=30_000)
        lease.begin()
        service.until(raised=0)
        while lease.active:
            lease.begin()
        assert "lease 1 does not exist, or has ended" in caplog.text
        with pytest.raises(ServiceRefused, match="has ended"):
            lease.use("balanced")


@pytest.mark.parametrize("window_us", [0, -1, 1.5, "500000", True])
def test_a_wrong_window_is_refused_at_once(tmp_path: Path, window_us: Any) -> None:
    """Otherwise no inference would have votes."""
    with connect("test", path=str(tmp_path / "none")) as client, pytest.raises(ValueError, match="window_us is"):
        client.hold("burst", reason="preview", window_us=window_us)


def test_a_capped_lease_says_so(tmp_path: Path) -> None:
    """The profile of a lease is the one in use: the cap of its user, after hold and after use."""
    with (
        served(tmp_path, "service: test\nusers: [{user: default, cap: balanced}]\n") as service,
        connect("test", path=service.path) as client,
    ):
        lease = client.hold("burst", reason="preview")
        assert lease.profile == "balanced"
        lease.use("power_saver")
        assert lease.profile == "power_saver"
        lease.use("high_performance")
        assert lease.profile == "balanced"


def misbehaving(path: str, answer: Callable[[socket.socket], object]) -> threading.Thread:
    """Start a service that answers the first client as the function does, and then ends."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()

    def run() -> None:
        end, _ = listening.accept()
        with listening, end:
            answer(end)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.needs("unix sockets")
@pytest.mark.parametrize(
    "said", [b"", b"{", b"nonsense\n", b"[]\n", b'"x"\n', b"\xff\xff\n", b'{"id": 1}\n', b'{"id": 1, "ok": true}\n']
)
def test_a_service_that_answers_nonsense_costs_only_the_votes(tmp_path: Path, said: bytes) -> None:
    """The client goes on without votes, and raises nothing."""

    def answer(end: socket.socket) -> None:
        end.recv(1000)
        end.sendall(said)

    thread = misbehaving(str(tmp_path / "s"), answer)
    with connect("test", path=str(tmp_path / "s")) as client:
        with client.hold("burst", reason="preview").inference():
            pass
        thread.join(LONGEST_S)
        assert not client.connected


@pytest.mark.needs("unix sockets")
def test_a_service_that_hangs_costs_the_timeout_once(tmp_path: Path) -> None:
    """After the timeout the client disconnects, and does not wait again soon."""
    done = threading.Event()
    thread = misbehaving(str(tmp_path / "s"), lambda _end: done.wait(LONGEST_S))
    try:
        with connect("test", path=str(tmp_path / "s"), timeout_s=0.05) as client:
            lease = client.hold("burst", reason="preview")
            for _ in range(1000):
                with lease.inference():
                    assert not client.connected
    finally:
        done.set()
        thread.join(LONGEST_S)


@pytest.mark.needs("fork")
def test_a_forked_child_does_not_keep_the_lease(tmp_path: Path) -> None:
    """The child's copy of the connection is closed, so the lease ends with the parent's; the child sends nothing."""
    with served(tmp_path) as service:
        client = connect("test", path=service.path)
        lease = client.hold("burst", reason="preview")
        lease.begin()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                lease.begin()
                os.close(writing)
                os.read(reading, 1)
            finally:
                os._exit(0)
        os.close(reading)
        client.close()
        service.until(raised=0)
        os.close(writing)
        os.waitpid(child, 0)


def test_coroutines_have_votes(tmp_path: Path) -> None:
    """Inferences of many coroutines of one client have votes, and the lease ends with its client."""

    async def run(path: str) -> tuple[int, str]:
        async with await connect_async("test", path=path) as client:
            lease = await client.hold("high_performance", reason="preview")
            assert (client.connected, lease.active) == (True, True)
            raised = []

            async def infer() -> None:
                async with lease.inference():
                    raised.append(service.raised())

            await asyncio.gather(*(infer() for _ in range(20)))
            await lease.use("balanced")
            status = await client.status()
            assert status is not None
            assert [each["profile"] for each in status["leases"]] == ["balanced"]
            with pytest.raises(ServiceRefused):
                await client.hold("brst", reason="preview")
            return min(raised), lease.profile

    with served(tmp_path) as service:
        assert asyncio.run(run(service.path)) == (1, "balanced")
        service.until(raised=0)


def test_a_cancelled_begin_leaves_nothing_up(tmp_path: Path) -> None:
    """The inference of a coroutine that is cancelled in its begin ends at the service, too."""

    async def run(path: str) -> None:
        async with await connect_async("test", path=path) as client:
            lease = await client.hold("high_performance", reason="preview")

            async def infer() -> None:
                async with lease.inference():
                    raise AssertionError("the begin was cancelled")

            task = asyncio.create_task(infer())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(service.until, 0)
            async with lease.inference():
                assert service.raised() == 1

    with served(tmp_path) as service:
        asyncio.run(run(service.path))


def test_an_end_waits_for_no_other_coroutine(tmp_path: Path) -> None:
    """A coroutine that is cancelled at its end, while another begins, has ended its inference all the same."""
    simulated = SimulatedHtp()

    async def run(path: str) -> None:
        async with await connect_async("test", path=path) as client:
            first = await client.hold("high_performance", reason="first")
            second = await client.hold("high_performance", reason="second")
            go = asyncio.Event()

            async def infer() -> None:
                async with first.inference():
                    await go.wait()

            task = asyncio.create_task(infer())
            await asyncio.to_thread(service.until_raised)
            simulated.delay_calls(200_000, "setPowerConfig")
            inference = second.inference()  # dropped, it would end
            other = asyncio.create_task(inference.__aenter__())
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            simulated.delay_calls(0)
            await other
            await asyncio.to_thread(service.until, 1)

    with served(tmp_path, backend=simulated) as service:
        asyncio.run(run(service.path))


def test_a_cancelled_hold_leaves_no_lease(tmp_path: Path) -> None:
    """The client disconnects, since the service may have made the lease; its other leases are requested again."""

    async def run(path: str) -> None:
        async with await connect_async("test", path=path) as client:
            lease = await client.hold("high_performance", reason="kept")
            task = asyncio.create_task(client.hold("burst", reason="dropped"))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            async with lease.inference():
                assert service.raised() == 1
                await asyncio.to_thread(service.until_sessions, 1)

    with served(tmp_path) as service:
        asyncio.run(run(service.path))


@pytest.mark.needs("fork")
def test_a_forked_child_keeps_no_lease_of_coroutines(tmp_path: Path) -> None:
    """The child's copy of the connection is gone, so the lease ends with the parent's."""

    async def run(path: str) -> tuple[int, int]:
        client = await connect_async("test", path=path)
        lease = await client.hold("burst", reason="preview")
        inference = lease.inference()
        await inference.__aenter__()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
        os.close(reading)
        await client.close()
        return child, writing

    with served(tmp_path) as service:
        child, writing = asyncio.run(run(service.path))
        service.until(raised=0)
        os.close(writing)
        os.waitpid(child, 0)


def test_coroutines_without_a_service_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One WARNING, and no error."""

    async def run() -> bool:
        async with await connect_async("test", path=str(tmp_path / "none")) as client:
            lease = await client.hold("burst", reason="preview")
            async with lease.inference():
                await lease.use("balanced")
            await lease.release()
            return client.connected

    assert not asyncio.run(run())
    assert len(caplog.records) == 1


@pytest.mark.needs("unix sockets")
def test_a_hanging_service_delays_a_coroutine_by_the_timeout(tmp_path: Path) -> None:
    """Then it goes on without votes."""
    done = threading.Event()
    thread = misbehaving(str(tmp_path / "s"), lambda _end: done.wait(LONGEST_S))

    async def run() -> bool:
        async with await connect_async("test", path=str(tmp_path / "s"), timeout_s=0.05) as client:
            lease = await client.hold("burst", reason="preview")
            async with lease.inference():
                return client.connected

    try:
        assert not asyncio.run(run())
    finally:
        done.set()
        thread.join(LONGEST_S)


def test_the_variable_names_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``HTPPOWER_SOCKET`` is used if no path is given."""
    with served(tmp_path) as service:
        monkeypatch.setenv("HTPPOWER_SOCKET", service.path)
        with connect("test") as client:
            assert isinstance(client, Client)
            assert client.connected
