"""``htppower.h`` with a hostile service: the host waits no longer than the timeout, and goes on without votes."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import random
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.c_driver import compiled_driver, driven
from support.fake_service import faked, right

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.fake_service import Answer

TIMEOUT_MS = 250
# What a loaded machine adds to the timeout, in seconds.
SLACK_S = 2.0


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the driver of the header."""
    return compiled_driver(tmp_path_factory)


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a driver that connects again at once."""
    return compiled_driver(tmp_path_factory, "-DHTPPOWER_PAUSE_US=10u")


def decoys(message: dict[str, Any]) -> bytes:
    """Return a right answer with the same names elsewhere, unknown fields, and another order of the fields."""
    texts = {"ok": False, "id": 0, "lease": 5, "message": '"ok":false}'}
    number = {"lease": 7} if message["do"] == "hold" else {}
    answer = {
        "of": [texts, [{"ok": False}], '"id":9,"ok":false', "}]{[\\"],
        '"ok"': False,
        "ok ": False,
        **number,
        "ok": True,
        "text": '\\"ok\\":false \u00e9 \U0001f600 \x00',
        "nothing": None,
        "message": "none",
        "id": message["id"],
        "last": {"ok": False, "id": 0, "lease": 5},
    }
    return json.dumps(answer, indent=None, separators=(" , ", "\t:  ")).encode() + b"\r\n"


GOOD: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "right": lambda message: [right(message)],
    "byte by byte": lambda message: [bytes([each]) for each in right(message)],
    "in two parts": lambda message: [right(message)[:9], 0.02, right(message)[9:]],
    "huge": lambda message: [right(message, profiles=["x" * 100] * 20_000)],
    "with decoys": lambda message: [decoys(message)],
    "after garbage": lambda message: [b'\n\n{}\n[]\nnull\n"\n{"id":\n\x00\xff\xfe\n}}}}]]]\n' + right(message)],
    "after others": lambda message: [
        b'{"event":"transition","lease":7}\n{"id":null,"ok":false,"error":"no lease"}\n{"id":999,"ok":false}\n',
        right(message),
    ],
    "with more after it": lambda message: [right(message) + b'{"event":"transition","id":null}\n  '],
}
SILENT: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "no end": lambda message: [right(message)[:-1], 5.0],
    "silence": lambda _message: [5.0],
    "garbage": lambda _message: [bytes(range(256)) * 40, 5.0],
    "the wrong id": lambda message: [right({**message, "id": message["id"] + 1}), 5.0],
    "deep": lambda _message: [b"[" * 200_000 + b"{" * 200_000, 5.0],
    "drop by drop": lambda _message: [b"{", *(0.05, b" ") * 100],
    "a flood": lambda _message: itertools.repeat(b'{"event":"transition"}\n' * 10_000),
    "an endless string": lambda _message: itertools.chain([b'{"message":"'], itertools.repeat(b"x" * 100_000)),
}
ENDED: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "closed": lambda _message: [None],
    "half a line": lambda message: [right(message)[:-5], None],
}
REFUSED: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "refused": lambda message: [right(message, ok=False, error="e" * 100, message="m" * 2000, hint="h" * 2000)],
    "refused without words": lambda message: [right(message, ok="maybe")],
    "not read": lambda _message: [b'{"id":null,"ok":false,"error":"malformed","message":"m","hint":"h"}\n'],
}


@pytest.mark.parametrize("answer", GOOD.values(), ids=GOOD)
def test_a_right_answer_is_understood(driver: Path, tmp_path: Path, answer: Callable[[dict[str, Any]], Answer]) -> None:
    """However it arrives, and whatever else is in it or before it."""
    place = tmp_path / "socket"
    with faked(place, answer) as service, driven(driver, place, 5000) as client:
        assert client.does("hold 0 burst preview") == 0
        assert client.say("begin 0") == (1, "")
        client.does("end 0")
        assert client.does("use 0 balanced") == 0
        assert client.does("connected") == 1
        client.does("release 0")
        client.end()
    assert {message["lease"] for message in service.got if "lease" in message} == {7}


@pytest.mark.parametrize("verb", ["hello", "hold", "begin"])
@pytest.mark.parametrize("kind", [*SILENT, *ENDED])
def test_without_a_right_answer_the_host_goes_on(driver: Path, tmp_path: Path, kind: str, verb: str) -> None:
    """It waits no longer than the timeout, then infers without votes, and gives the reason once."""
    place = tmp_path / "socket"

    def answers(message: dict[str, Any]) -> Answer:
        return {**SILENT, **ENDED}[kind](message) if message["do"] == verb else [right(message)]

    with faked(place, answers), driven(driver, place, TIMEOUT_MS) as client:
        assert client.does("hold 0 burst preview") == 0
        assert client.does("begin 0") == 0
        client.does("end 0")
        assert client.does("connected") == 0
        assert client.longest_s < TIMEOUT_MS / 1000 + SLACK_S
        (said,) = client.end()
    assert "no votes" in said
    assert ("no answer within the timeout" in said) == (kind in SILENT)


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
def test_a_refusal_ends_only_the_lease(
    driver: Path, tmp_path: Path, answer: Callable[[dict[str, Any]], Answer]
) -> None:
    """However long its words are, the connection stays."""
    place = tmp_path / "socket"

    def answers(message: dict[str, Any]) -> Answer:
        return answer(message) if message["do"] == "begin" else [right(message)]

    with faked(place, answers), driven(driver, place) as client:
        client.does("hold 0 burst preview")
        assert [client.does("begin 0"), client.does("begin 0")] == [0, 0]
        assert client.does("connected") == 1
        (said,) = client.end()
    assert "a lease has ended" in said


def test_a_service_that_accepts_no_connection(driver: Path, tmp_path: Path) -> None:
    """Connecting does not wait until it does."""
    place = tmp_path / "socket"
    with contextlib.ExitStack() as sockets:
        listening = sockets.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(str(place))
        listening.listen(0)
        code = 0
        while code == 0:
            waiting = sockets.enter_context(socket.socket(socket.AF_UNIX))
            waiting.setblocking(False)
            code = waiting.connect_ex(str(place))
        assert code == errno.EAGAIN
        with driven(driver, place) as client:
            assert client.does("connected") == 0


def test_the_reason_is_given_once(hasty: Path, tmp_path: Path) -> None:
    """However often the client tries to connect."""
    place = tmp_path / "socket"
    with faked(place, lambda _message: [None]) as service, driven(hasty, place) as client:
        client.does("hold 0 burst preview")
        while len(service.got) < 5:
            assert client.does("begin 0") == 0
        (said,) = client.end()
    assert "the service has ended" in said
    assert {message["do"] for message in service.got} == {"hello"}


def test_a_client_does_not_try_at_each_begin(driver: Path, tmp_path: Path) -> None:
    """The first pause is a second, and the next is two."""
    place = tmp_path / "socket"
    with faked(place, lambda _message: [None]) as service, driven(driver, place) as client:
        client.does("hold 0 burst preview")
        begun_s = time.monotonic()
        while time.monotonic() - begun_s < 1.5:
            client.does("begin 0")
        client.end()
    assert len(service.got) == 2


def test_half_an_answer_does_not_spoil_the_next_connection(hasty: Path, tmp_path: Path) -> None:
    """The answers of the next connection are read from their beginning."""
    place = tmp_path / "socket"
    begins = itertools.count()

    def answers(message: dict[str, Any]) -> Answer:
        half = message["do"] == "begin" and next(begins) == 0
        return ENDED["half a line"](message) if half else [right(message)]

    with faked(place, answers) as service, driven(hasty, place) as client:
        client.does("hold 0 burst preview")
        assert client.does("begin 0") == 0
        while client.does("begin 0") == 0:
            assert client.longest_s < TIMEOUT_MS / 1000 + SLACK_S / 2
        client.end()
    assert [message["do"] for message in service.got].count("hello") == 2


def test_an_inference_that_is_refused_after_a_restart(hasty: Path, tmp_path: Path) -> None:
    """The next service has the lease again, and refuses the inference that runs in it: the lease ends, once."""
    place = tmp_path / "socket"
    begins = itertools.count()

    def answers(message: dict[str, Any]) -> Answer:
        if message["do"] != "begin" or next(begins) == 0:
            return [right(message)]
        return [right(message, ok=False, error="lease ended", message="m", hint="h")]

    def ends(message: dict[str, Any]) -> Answer:
        return [None] if message["do"] == "use" else answers(message)

    with faked(place, ends) as service, driven(hasty, place) as client:
        client.does("hold 0 burst preview")
        assert client.does("begin 0") == 1
        assert client.does("use 0 balanced") == 0
        assert client.does("connected") == 0
        while client.does("begin 0") == 0 and client.does("connected") == 0:
            pass
        assert [client.does("begin 0"), client.does("connected")] == [0, 1]
        client.end()
    assert [message["do"] for message in service.got] == ["hello", "hold", "begin", "use", "hello", "hold", "begin"]
    assert service.got[5]["profile"] == "balanced"


@pytest.mark.parametrize("seed", range(8))
def test_any_mixture_of_answers(hasty: Path, tmp_path: Path, seed: int) -> None:
    """A service that answers at random, also with bytes at random, neither stops nor breaks the host."""
    chance = random.Random(seed)
    verbs = [
        "hold {} burst preview",
        "hold {} burst preview 3000",
        "use {} balanced",
        "release {}",
        *["begin {}", "end {}"] * 4,
    ]

    def answers(message: dict[str, Any]) -> Answer:
        if chance.random() < 0.1:
            mutated = bytearray(right(message) * chance.randint(1, 40))
            for _ in range(chance.randint(1, 20)):
                mutated[chance.randrange(len(mutated))] = chance.choice(b'{}[]",:\\\n\x00\xff0')
            return [bytes(mutated), 5.0 if chance.random() < 0.05 else 0.0, None]
        kinds = [*GOOD.values(), *REFUSED.values(), *ENDED.values()]
        return chance.choice(kinds)(message) if chance.random() < 0.4 else [right(message)]

    place = tmp_path / "socket"
    with faked(place, answers) as service, driven(hasty, place, TIMEOUT_MS) as client:
        for _ in range(300):
            verb, at = chance.choice(verbs), chance.randrange(4)
            # A lease is released before its memory has another use.
            if verb.startswith("hold"):
                client.does(f"release {at}")
            client.does(verb.format(at))
        assert client.longest_s < TIMEOUT_MS / 1000 * 5 + SLACK_S
        client.end()
    # It did connect again, many times.
    assert sum(message["do"] == "hello" for message in service.got) > 10
