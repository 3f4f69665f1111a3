"""Clients on a real socket: leases, votes, events, and bounds."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING

import pytest
from support.serving import LONGEST_S, Raw, Served, served

from htppower.backends import SimulatedHtp
from htppower.hosts.service import connection
from htppower.hosts.service.messages import LONGEST_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    """A service without a file."""
    with served(tmp_path) as running:
        yield running


def test_an_inference_has_votes(service: Served) -> None:
    """Begin answers when the votes are in force; after end and the sustain time they come down."""
    with service.connect() as client:
        lease = client.ask("hold", profile="high_performance", reason="preview")
        assert (lease["lease"], lease["profile"], lease["state"]) == (1, "high_performance", "UNVOTED")
        assert client.ask("begin", lease=1, inference=1)["state"] == "RAISED"
        assert service.raised() == 1
        assert client.ask("end", lease=1, inference=1)["ok"]
        service.until(raised=0)
        assert client.ask("release", lease=1)["ok"]
    assert not service.controller.status().sessions


def test_votes_of_the_process_are_left_out(service: Served) -> None:
    """RPC polling and latency act on the process that infers, so the service sends none."""
    with service.connect() as client:
        client.ask("hold", profile="burst", reason="preview")
        client.ask("begin", lease=1, inference=1)
        effective = service.backend.effective(0, 0)
    assert (effective.rpc_polling_time_us, effective.rpc_control_latency_us) in ((0, 0), (None, None))


def test_who_leaves_is_lowered_at_once(service: Served) -> None:
    """The votes of a connection that ends come down without the sustain time, and other clients keep theirs."""
    stays, leaves = service.connect("stays"), service.connect("leaves")
    for client in (stays, leaves):
        client.ask("hold", profile="burst", reason="preview")
        client.ask("begin", lease=1, inference=1)
    service.until(raised=2)
    leaves.close()
    service.until(raised=1)
    (session,) = [each for each in service.controller.status().sessions if each.state == "RAISED"]
    assert session.owner is not None
    assert session.owner.startswith(("user ", "process "))
    assert session.owner.endswith(": stays: preview")
    stays.close()
    service.until(raised=0)


def test_a_message_without_id_is_answered_only_if_it_is_refused(service: Served) -> None:
    """A client need not wait for an end; but it learns that its end was wrong."""
    with service.connect() as client:
        client.ask("hold", profile="burst", reason="preview")
        client.tell("begin", lease=1, inference=1)
        client.tell("end", lease=1, inference=1)
        client.tell("end", lease=1, inference=1)
        refused = client.line()
        assert (refused["id"], refused["error"]) == (None, "no inference")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"do": "begin", "lease": 9, "inference": 1}, "no lease"),
        ({"do": "begin", "lease": 1, "inference": 1}, "inference runs"),
        ({"do": "end", "lease": 1, "inference": 2}, "no inference"),
        ({"do": "hold", "profile": "brst", "reason": "r"}, "profile"),
        ({"do": "hold", "profile": "burst.yaml", "reason": "r"}, "profile"),
        ({"do": "hold", "profile": "burst", "reason": "r", "core_ids": [77]}, "votes refused"),
        ({"do": "use", "lease": 1, "profile": "brst"}, "profile"),
        ({"do": "release", "lease": 2}, "no lease"),
    ],
)
def test_what_is_refused_changes_nothing(service: Served, asked: dict[str, object], error: str) -> None:
    """A refused message names its error and what to do, and the client goes on."""
    with service.connect() as client:
        client.ask("hold", profile="burst", reason="preview")
        client.ask("begin", lease=1, inference=1)
        answer = client.ask(str(asked.pop("do")), **asked)
        assert (answer["ok"], answer["error"]) == (False, error)
        assert answer["message"]
        assert answer["hint"]
        status = client.ask("status")
        assert [lease["in_flight"] for lease in status["leases"]] == [1]


def test_hello_comes_first(service: Served) -> None:
    """Any other first message is refused, and hello then works."""
    with Raw(service.path) as client:
        assert client.ask("status")["error"] == "hello first"
        hello = client.ask("hello", protocol=1, name="x")
        assert "burst" in hello["profiles"]


def test_a_window_ends_by_itself(service: Served) -> None:
    """An inference with a window ends without a message; the same begin before that begins the window anew."""
    with service.connect() as client:
        client.ask("hold", profile="high_performance", reason="preview")
        client.ask("begin", lease=1, inference=0, window_us=60_000_000)
        assert client.ask("begin", lease=1, inference=0, window_us=20_000)["ok"]
        assert client.ask("status")["leases"][0]["in_flight"] == 1
        service.until(raised=0)
        assert client.ask("status")["leases"][0]["in_flight"] == 0


def test_a_lease_ends_at_its_deadline(service: Served) -> None:
    """The votes come down even if the inference runs, and a client that watches is told."""
    with service.connect() as client:
        client.ask("watch", events=True)
        client.ask("hold", profile="burst", reason="preview", deadline_us=50_000)
        client.ask("begin", lease=1, inference=1)
        told = [each["event"] for each in client.events]
        while "lease ended" not in told:
            told.append(client.line()["event"])
        service.until(raised=0)
        assert client.ask("end", lease=1, inference=1)["error"] == "no lease"


def test_a_client_watches_its_own_leases_only(service: Served) -> None:
    """It gets transitions and changes of profile, by its own number of the lease, and nothing of others."""
    with service.connect() as client, service.connect() as other:
        client.ask("watch", events=True)
        other.ask("hold", profile="burst", reason="other")
        other.ask("begin", lease=1, inference=1)
        client.ask("hold", profile="burst", reason="preview")
        client.ask("begin", lease=1, inference=1)
        client.ask("use", lease=1, profile="balanced")
        service.controller.flush_events()
        client.ask("watch", events=False)
        told = [(event["event"], event["lease"], event.get("profile")) for event in client.events]
    assert ("transition", 1, "burst") in told
    assert ("profile changed", 1, "balanced") in told
    assert {lease for _, lease, _ in told} == {1}
    assert len(told) <= 4


def test_a_client_sees_its_own_leases_and_the_sum_of_all(service: Served) -> None:
    """Reasons and owners of others are not told."""
    with service.connect() as client, service.connect() as other:
        other.ask("hold", profile="burst", reason="secret")
        other.ask("begin", lease=1, inference=1)
        client.ask("hold", profile="balanced", reason="preview", owner="camera")
        status = client.ask("status")
    assert status["leases"] == [
        {
            "lease": 1,
            "owner": "camera",
            "reason": "preview",
            "profile": "balanced",
            "state": "UNVOTED",
            "in_flight": 0,
        }
    ]
    assert status["all"] == {"leases": 2, "raised": 1, "in_flight": 1}
    assert "secret" not in json.dumps(status)


@pytest.mark.needs("unix sockets")
def test_who_leaves_with_queued_lines_is_lowered_at_once(tmp_path: Path) -> None:
    """Lines beyond the rate of a client do not keep its votes up after its end."""
    file = "service: test\nusers: [{user: default, messages_per_s: 10}]\n"
    with served(tmp_path, file) as service:
        client = service.connect()
        client.ask("hold", profile="burst", reason="preview")
        client.ask("begin", lease=1, inference=1)
        client.end.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                client.end.send(b'{"do": "status"}\n' * 1000)
        client.close()
        service.until(raised=0)


def test_a_window_counts_from_the_raise(tmp_path: Path) -> None:
    """An inference whose raise takes longer than its window has begun when the answer comes."""
    simulated = SimulatedHtp()
    with served(tmp_path, backend=simulated) as service, service.connect() as client:
        client.ask("hold", profile="burst", reason="preview")
        simulated.delay_calls(100_000, "setPowerConfig")
        assert client.ask("begin", lease=1, inference=0, window_us=50_000)["state"] == "RAISED"
        simulated.delay_calls(0)
        assert client.ask("status")["leases"][0]["in_flight"] == 1


@pytest.mark.parametrize("data", [b"\x00" * 10_000, b"x" * (LONGEST_LINE_BYTES + 1), b'{"do": "' * 1500])
def test_a_line_without_end_ends_the_connection(service: Served, data: bytes) -> None:
    """It is refused at the greatest length, with a hint, and the service keeps nothing of it."""
    with service.connect() as client, service.connect() as other:
        other.ask("hold", profile="burst", reason="preview")
        client.send(data)
        refused = client.line()
        assert refused["error"] == "malformed"
        assert str(LONGEST_LINE_BYTES) in refused["hint"]
        assert client.line() == {}
        assert other.ask("begin", lease=1, inference=1)["state"] == "RAISED"


def test_lines_in_pieces_are_put_together(service: Served) -> None:
    """A message may arrive byte by byte, and several at once."""
    with service.connect() as client:
        whole = b'{"do": "hold", "id": 9, "profile": "burst", "reason": "r"}\n{"do": "status", "id": 10}\n'
        for place in range(len(whole)):
            client.send(whole[place : place + 1])
        assert (client.line()["lease"], client.line()["id"]) == (1, 10)


@pytest.mark.needs("unix sockets")
def test_a_client_that_floods_does_not_make_others_wait(tmp_path: Path) -> None:
    """Beyond its rate a client is read more slowly, and it loses no message; others of another rate go on."""
    file = "service: test\nusers: [{user: default, messages_per_s: 2000}]\n"
    with served(tmp_path, file) as service, service.connect() as flood:
        line = b'{"do": "status", "id": 1}\n'
        sender = threading.Thread(target=flood.send, args=(line * 6000,))
        sender.start()
        answers = [flood.line() for _ in range(6000)]
        sender.join(LONGEST_S)
        assert all(answer["ok"] for answer in answers)


@pytest.mark.needs("unix sockets")
def test_a_client_that_reads_nothing_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers are bounded; after some time its connection ends, and its votes come down."""
    monkeypatch.setattr(connection, "LONGEST_STALL_S", 0.1)
    with served(tmp_path) as service, service.connect() as slow, service.connect() as other:
        slow.ask("hold", profile="burst", reason="preview")
        slow.ask("begin", lease=1, inference=1)
        slow.end.setblocking(False)
        with pytest.raises(OSError):  # noqa: PT012 - the buffer of the socket is full at some time
            while True:
                slow.send(b'{"do": "status", "id": 1}\n' * 1000)
        service.until(raised=0)
        assert other.ask("status")["ok"]


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [("most_connections: 2", "the user has 2 connections"), ("most_leases: 64", "the service has 3 connections")],
)
def test_connections_are_limited(tmp_path: Path, limits: str, wanted: str) -> None:
    """One too many is refused with a message, and there is room again when another has gone."""
    file = f"service: test\nmost_connections: 3\nusers: [{{user: default, {limits}}}]\n"
    with served(tmp_path, file) as service, contextlib.ExitStack() as clients:
        last = [clients.enter_context(service.connect()) for _ in range(2 if "user" in wanted else 3)][-1]
        with Raw(service.path) as refused:
            answer = refused.line()
            assert (answer["error"], answer["message"]) == ("too many", wanted)
            assert refused.line() == {}
        last.close()
        said: dict[str, object] = {}
        while not said.get("ok"):  # until the service has noticed the end
            with Raw(service.path) as again:
                again.send(b'{"do": "hello", "id": 1, "protocol": 1, "name": "x"}\n')
                said = again.line()


def test_leases_and_profiles_of_a_user_are_limited(tmp_path: Path) -> None:
    """The user's cap replaces higher profiles, now and after use; its leases and their time have a limit."""
    file = "service: test\nusers: [{user: default, cap: balanced, most_leases: 2, longest_lease_us: 60000000}]\n"
    with served(tmp_path, file) as service, service.connect() as client:
        first = client.ask("hold", profile="burst", reason="preview")
        assert (first["profile"], first["deadline_us"]) == ("balanced", 60_000_000)
        assert client.ask("hold", profile="low_balanced", reason="preview")["profile"] == "low_balanced"
        assert client.ask("hold", profile="burst", reason="preview")["error"] == "too many"
        assert client.ask("use", lease=2, profile="burst")["profile"] == "balanced"
        client.ask("release", lease=1)
        assert client.ask("hold", profile="burst", reason="preview", deadline_us=5_000_000)["deadline_us"] == 5_000_000


def test_a_cap_limits_every_lease(service: Served) -> None:
    """A cap of the service's controller, such as one by temperature, replaces the profile until it is lifted."""
    with service.connect() as client:
        client.ask("hold", profile="burst", reason="preview")
        with service.controller.cap("balanced", reason="hot"):
            assert client.ask("status")["leases"][0]["profile"] == "balanced"
            assert client.ask("hold", profile="burst", reason="preview")["profile"] == "balanced"
        assert client.ask("status")["leases"][0]["profile"] == "burst"


def test_a_profile_comes_from_the_named_folders(tmp_path: Path) -> None:
    """A client can use a profile of the service's folders by its name."""
    (tmp_path / "camera.yaml").write_text("profile: camera\nextends: burst\n")
    with served(tmp_path) as service, service.connect() as client:
        assert client.ask("hold", profile="camera", reason="preview")["profile"] == "camera"


def test_a_failed_vote_is_told_as_a_state(tmp_path: Path) -> None:
    """An inference runs even if its votes fail: begin answers with the state."""
    simulated = SimulatedHtp()
    with served(tmp_path, backend=simulated) as service, service.connect() as client:
        client.ask("hold", profile="burst", reason="preview")
        simulated.fail_next(13006, function="setPowerConfig")
        answer = client.ask("begin", lease=1, inference=1)
        assert (answer["ok"], answer["state"]) == (True, "UNKNOWN")


def test_the_end_of_the_service_lowers_all(tmp_path: Path) -> None:
    """Clients with inferences in flight are disconnected, and nothing stays up."""
    simulated = SimulatedHtp()
    with served(tmp_path, backend=simulated) as service:
        clients = [service.connect() for _ in range(20)]
        for client in clients:
            client.ask("hold", profile="burst", reason="preview")
            client.ask("begin", lease=1, inference=1)
        assert service.raised() == 20
    assert [client.line() for client in clients] == [{}] * 20
    assert not service.controller.status().sessions
    for client in clients:
        client.close()
