"""ASGI applications: votes from the begin of a request to the last part of its response."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, Bench
from support.gates import until
from support.web import JSON, LEFT, Exchange, parts_of

from htppower import SessionClosed, State, VoteController
from htppower.hosts.web import AsgiVotes, ModePolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    Now = Callable[[], tuple[int, str, State]]

START: dict[str, Any] = {"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]}
UP = {mode: (1, mode, State.RAISED) for mode in ("burst", "balanced", "low_balanced", "power_saver")}


def part(body: bytes = b"", *, more: bool = False) -> dict[str, Any]:
    """Return a part of a response."""
    return {"type": "http.response.body", "body": body, "more_body": more}


class App:
    """Reads its request, notes what is voted, and answers with what it has read."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.seen: list[Any] = []
        self.received: list[Any] = []
        self.scopes: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer."""
        self.scopes.append(scope)
        self.seen.append(self.now())
        while True:
            self.received.append(await receive())
            if not self.received[-1].get("more_body", False):
                break
        await send(START)
        await send(part(b"".join(message.get("body", b"") for message in self.received)))
        self.seen.append(self.now()[0])


@pytest.fixture
def app(now: Now) -> App:
    """Return an application."""
    return App(now)


@pytest.fixture
def served(bench: Bench, app: App, policy: ModePolicy) -> AsgiVotes:
    """Return the application with votes."""
    return AsgiVotes(app, bench.controller, policy)


@pytest.mark.parametrize(
    ("headers", "body", "mode", "reason"),
    [
        ({}, b"", "burst", "service"),
        ({"X-Power-Mode": "balanced"}, b"", "balanced", "header"),
        (JSON, b'{"power_mode": "power_saver"}', "power_saver", "JSON field"),
        ({**JSON, "x-power-mode": "balanced"}, b'{"power_mode": "power_saver"}', "balanced", "header"),
        (JSON, b'{"messages": []}', "burst", "service"),
    ],
)
def test_a_request_votes_in_the_mode_that_it_asks_for(
    served: AsgiVotes, app: App, now: Now, headers: dict[str, str], body: bytes, mode: str, reason: str
) -> None:
    """It is one inference until its response is complete; the response has the profile and the reason."""
    answer = asyncio.run(Exchange.of("/v1/chat", body, headers=headers).run(served))
    assert app.seen == [UP[mode], 0]
    assert (answer.status, answer.body) == (200, body)
    assert answer.headers == {"a": "b", "x-power-mode": mode, "x-power-mode-reason": reason}
    assert now()[0] == 0


def test_the_application_receives_the_body_unchanged(served: AsgiVotes, app: App) -> None:
    """In the same parts, though it was read before, and then what comes later."""
    bodies = (b'{"power', b'_mode": ', b"", b'"balanced"}')
    exchange = Exchange.of("/v1/chat", *bodies, headers=JSON)
    asyncio.run(exchange.run(served))
    assert app.received == parts_of(*bodies)
    assert exchange.headers["x-power-mode"] == "balanced"


def test_a_long_body_is_passed_on(served: AsgiVotes, app: App) -> None:
    """Nothing is read beyond the limit, and the header has the reason."""
    bodies = (b'{"power_mode": "balanced",', b" " * 100, b"}")
    answer = asyncio.run(Exchange.of("/v1/chat", *bodies, headers=JSON).run(served))
    assert app.received == parts_of(*bodies)
    assert answer.headers["x-power-mode"] == "burst"
    assert answer.headers["x-power-mode-reason"] == "service; the body was not searched"


def test_a_body_of_exactly_the_limit_is_read(served: AsgiVotes) -> None:
    """100 bytes, in two parts."""
    body = b'{"power_mode": "balanced"}'.ljust(100)
    answer = asyncio.run(Exchange.of("/v1/chat", body[:50], body[50:], headers=JSON).run(served))
    assert answer.headers["x-power-mode"] == "balanced"


def test_no_votes_are_up_while_a_slow_client_sends_its_json(bench: Bench, served: AsgiVotes, app: App) -> None:
    """The request begins when the body is there."""

    async def scenario() -> None:
        exchange = Exchange.of("/v1/chat", b"{", b"}", headers=JSON)
        rest = exchange.to_receive.pop()
        running = asyncio.create_task(exchange.run(served))
        for _ in range(3):
            await asyncio.sleep(0)
        assert (bench.sets, app.seen) == ([], [])
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert rest == parts_of(b"", b"}")[1]

    asyncio.run(scenario())


def test_a_client_that_leaves_while_its_body_is_read(bench: Bench, served: AsgiVotes, app: App) -> None:
    """The application learns of it in the same place; nothing is voted."""
    exchange = Exchange.of("/v1/chat", b"{", b"}", headers=JSON)
    exchange.to_receive[1:] = [LEFT]
    asyncio.run(exchange.run(served))
    assert [message["type"] for message in app.received] == ["http.request", "http.disconnect"]
    assert (bench.sets, app.scopes[0]["htppower"].running) == ([], False)


def test_a_wrong_mode_is_refused(bench: Bench, served: AsgiVotes, app: App) -> None:
    """The application does not run, and nothing is voted."""
    answer = asyncio.run(Exchange.of("/v1/chat", headers={"x-power-mode": "zoom"}).run(served))
    assert answer.status == 400
    assert answer.headers == {"content-type": "application/json", "content-length": str(len(answer.body))}
    assert json.loads(answer.body)["error"]["allowed"] == ["burst", "balanced", "power_saver"]
    assert (app.seen, bench.sets) == ([], [])


@pytest.mark.parametrize("path", ["/health", "/v1"])
def test_other_requests_pass(bench: Bench, policy: ModePolicy, path: str) -> None:
    """The application gets what the server gave, and no session is opened."""
    given: list[Any] = []

    async def app(*arguments: Any) -> None:
        given.append(arguments)

    served = AsgiVotes(app, bench.controller, policy)
    exchange = Exchange.of(path, headers={"x-power-mode": "zoom"})
    arguments = exchange.scope, exchange.receive, exchange.send
    asyncio.run(served(*arguments))
    websocket = {"type": "websocket", "path": "/v1/chat"}
    asyncio.run(served(websocket, *arguments[1:]))
    assert given == [arguments, (websocket, *arguments[1:])]
    assert bench.controller.status().sessions == ()


@pytest.mark.parametrize(
    ("root", "path", "votes"),
    [("/api", "/api/v1/x", True), ("/api/", "/api/v1/x", True), ("/v1", "/v1/x", False), ("/v", "/v1/x", True)],
)
def test_a_mounted_application(served: AsgiVotes, app: App, root: str, path: str, votes: bool) -> None:
    """The routes are those within the application."""
    asyncio.run(Exchange.of(path, root_path=root).run(served))
    assert (app.seen == [UP["burst"], 0]) is votes


def test_a_mode_beyond_the_profile_of_the_service(bench: Bench, app: App) -> None:
    """The request uses the profile of the service, and the header has the reason."""
    served = AsgiVotes(app, bench.controller, ModePolicy("balanced", allowed=("burst", "power_saver")))
    answer = asyncio.run(Exchange.of("/", headers={"x-power-mode": "burst"}).run(served))
    assert app.seen[0] == UP["balanced"]
    assert answer.headers["x-power-mode"] == "balanced"
    assert answer.headers["x-power-mode-reason"] == "header; burst is capped"


def test_a_header_of_another_name(bench: Bench, app: App) -> None:
    """ASGI wants names in small letters."""
    served = AsgiVotes(app, bench.controller, ModePolicy(allowed=("balanced",), header="X-Mode"))
    answer = asyncio.run(Exchange.of("/", headers={"x-mode": "balanced"}).run(served))
    assert answer.headers == {"a": "b", "x-mode": "balanced", "x-mode-reason": "header"}


def test_without_a_header_the_response_is_unchanged(bench: Bench, app: App) -> None:
    """Requests may still ask by the field."""
    served = AsgiVotes(app, bench.controller, ModePolicy(allowed=("balanced",), header=None))
    answer = asyncio.run(
        Exchange.of("/", b'{"power_mode": "balanced"}', headers={**JSON, "x-power-mode": "x"}).run(served)
    )
    assert (answer.headers, app.seen[0]) == ({"a": "b"}, UP["balanced"])


def test_a_stream_holds_its_votes_to_its_last_part(bench: Bench, policy: ModePolicy, now: Now) -> None:
    """And no longer: what the application does after it runs without votes."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        for number in range(3):
            await send(part(b"token", more=True))
            seen.append(now())
            if number == 0:
                await scope["htppower"].ause("decode")
            if number == 1:
                await scope["htppower"].ause("burst")
        await send(part())
        seen.append(now()[0])

    served = AsgiVotes(app, bench.controller, policy)
    asyncio.run(Exchange.of("/v1/chat", headers={"x-power-mode": "balanced"}).run(served))
    assert seen == [UP["balanced"], UP["low_balanced"], UP["balanced"], 0], (
        "it asked for balanced, so burst is not used"
    )


def test_the_votes_do_not_wait_for_a_slow_client(served: AsgiVotes, now: Now) -> None:
    """When the last part is sent, the inference has ended."""
    exchange = Exchange.of("/v1/chat")
    in_flight: list[int] = []

    async def send(message: Any) -> None:
        in_flight.append(now()[0])
        await exchange.send(message)

    asyncio.run(served(exchange.scope, exchange.receive, send))
    assert in_flight == [1, 0]


@pytest.mark.parametrize(
    "message", [{"type": "http.response.pathsend", "path": "/x"}, {"type": "http.response.zerocopysend"}]
)
def test_a_file_is_a_last_part_too(bench: Bench, policy: ModePolicy, now: Now, message: dict[str, Any]) -> None:
    """An early hint precedes the response and ends nothing."""
    seen: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for sent in ({"type": "http.response.early_hint"}, START, message):
            await send(sent)
            seen.append(now()[0])

    asyncio.run(Exchange.of("/v1/file").run(AsgiVotes(app, bench.controller, policy)))
    assert seen == [1, 1, 0]


@pytest.mark.parametrize("ends", ["an exception", "no response", "a cancellation", "a collection"])
def test_an_application_that_does_not_answer(bench: Bench, policy: ModePolicy, now: Now, ends: str) -> None:
    """The votes end with it, in each case."""
    begun: list[Any] = []
    kept: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        kept.append(scope["htppower"])
        await send(START)
        await send(part(b"token", more=True))
        begun.append(now())
        if ends == "an exception":
            raise KeyError
        if ends != "no response":
            await asyncio.Event().wait()

    served = AsgiVotes(app, bench.controller, policy)

    async def scenario() -> None:
        running = Exchange.of("/v1/chat", headers={"x-power-mode": "balanced"}).run(served)
        if ends == "a collection":
            while not begun:
                running.send(None)
                await asyncio.sleep(0)
            running.close()
            return
        task = asyncio.create_task(running)
        await until(lambda: begun)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() is (ends == "a cancellation")
        if ends == "an exception":
            assert isinstance(task.exception(), KeyError)

    asyncio.run(scenario())
    gc.collect()
    bench.time.advance_us(1)
    assert begun == [UP["balanced"]]
    assert now() == (0, "balanced", State.LOWERED), "though the host keeps the inference"
    assert not kept[0].running


def test_requests_at_the_same_time(bench: Bench, policy: ModePolicy, now: Now) -> None:
    """The highest mode counts, and the response of the other says which profile is in use."""
    begun: list[Any] = []
    answered: list[Any] = []

    async def meet(noted: list[Any]) -> None:
        noted.append(None)
        await until(lambda: len(noted) == 2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await meet(begun)
        await send(START)
        await meet(answered)
        await send(part())

    served = AsgiVotes(app, bench.controller, policy)

    async def scenario() -> list[Exchange]:
        asked = ("balanced", "power_saver")
        return await asyncio.gather(
            *(Exchange.of("/v1/x", headers={"x-power-mode": mode}).run(served) for mode in asked)
        )

    high, low = asyncio.run(scenario())
    assert high.headers["x-power-mode-reason"] == "header"
    assert low.headers["x-power-mode"] == "power_saver"
    assert low.headers["x-power-mode-reason"] == "header; balanced is in use"


def lifespan(*kinds: str) -> Exchange:
    """Return the messages of a lifespan."""
    return Exchange({"type": "lifespan"}, [{"type": f"lifespan.{kind}"} for kind in kinds])


class Lifespan:
    """A server that starts an application, and stops it later."""

    def __init__(self, served: AsgiVotes) -> None:
        self.sent: list[Any] = []
        self._served = served
        self._messages = asyncio.Queue[Any]()

    async def start(self) -> None:
        """Start the application."""
        self._messages.put_nowait({"type": "lifespan.startup"})
        self._running = asyncio.create_task(self._served({"type": "lifespan"}, self._messages.get, self._send))
        await until(lambda: self.sent)

    async def stop(self) -> None:
        """Stop it."""
        self._messages.put_nowait({"type": "lifespan.shutdown"})
        await self._running

    async def _send(self, message: Any) -> None:
        self.sent.append(message)


async def lives(scope: Any, receive: Any, send: Any) -> None:
    """Answer the messages of a lifespan."""
    for kind in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{kind}.complete"})


def test_the_lifespan_opens_and_closes_a_controller_of_its_own(bench: Bench, policy: ModePolicy) -> None:
    """It is made when the application starts, and closed when it has shut down; it may start again."""
    made: list[VoteController] = []

    def make() -> VoteController:
        made.append(VoteController(bench.recorder, time=bench.time, handle_sigterm=False))
        return made[-1]

    served = AsgiVotes(lives, make, policy)
    assert made == []
    for started in (1, 2):

        async def scenario(started: int = started) -> None:
            server = Lifespan(served)
            await server.start()
            assert len(made) == started
            assert [session.owner for session in made[-1].status().sessions] == ["requests"]
            await server.stop()
            assert server.sent[-1] == {"type": "lifespan.shutdown.complete"}

        asyncio.run(scenario())
        assert bench.simulated.power_config_ids == ()


def test_lifespans_share_a_session(bench: Bench, policy: ModePolicy) -> None:
    """Two servers run the application in one process: the session is closed with the last of them."""

    async def scenario() -> None:
        served = AsgiVotes(lives, bench.controller, policy)
        first, second = Lifespan(served), Lifespan(served)
        await first.start()
        await second.start()
        await first.stop()
        assert len(bench.controller.status().sessions) == 1
        await second.stop()
        assert bench.controller.status().sessions == ()

    asyncio.run(scenario())


def test_a_request_that_outlives_the_lifespan(bench: Bench, policy: ModePolicy) -> None:
    """It opens no session, which nothing would close; the reason in its header is the same as before."""
    made: list[VoteController] = []
    go = asyncio.Event()

    def make() -> VoteController:
        made.append(VoteController(bench.recorder, time=bench.time, handle_sigterm=False))
        return made[-1]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await lives(scope, receive, send)
            return
        await go.wait()
        await send(START)
        await send(part())

    async def scenario() -> Exchange:
        served = AsgiVotes(app, make, attrs.evolve(policy, profile="balanced"))
        server = Lifespan(served)
        await server.start()
        exchange = Exchange.of("/v1/chat", headers={"x-power-mode": "burst"})
        running = asyncio.create_task(exchange.run(served))
        await until(lambda: bench.sets)
        await server.stop()
        go.set()
        return await running

    answer = asyncio.run(scenario())
    assert answer.headers["x-power-mode-reason"].startswith("header; burst is capped")
    assert len(made) == 1


def test_a_lifespan_that_fails_after_its_start(bench: Bench, policy: ModePolicy) -> None:
    """The session is closed, and the error is passed on."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(lifespan("startup").run(AsgiVotes(app, bench.controller, policy)))
    assert bench.controller.status().sessions == ()


def test_an_application_that_fails_to_start(bench: Bench, policy: ModePolicy) -> None:
    """It serves no request, so the session is closed."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        assert len(bench.controller.status().sessions) == 1
        await send({"type": "lifespan.startup.failed", "message": "no model"})

    exchange = asyncio.run(lifespan("startup").run(AsgiVotes(app, bench.controller, policy)))
    assert exchange.sent == [{"type": "lifespan.startup.failed", "message": "no model"}]
    assert bench.controller.status().sessions == ()


def test_a_given_controller_stays_open(bench: Bench, policy: ModePolicy) -> None:
    """Only the session is closed."""
    asyncio.run(lifespan("startup", "shutdown").run(AsgiVotes(lives, bench.controller, policy)))
    assert bench.controller.status().sessions == ()
    bench.controller.session("burst").close()


def test_a_profile_that_can_not_be_used_fails_the_start(bench: Bench) -> None:
    """The server gets the reason, the application is not started, and nothing is left."""
    made: list[VoteController] = []

    def make() -> VoteController:
        made.append(VoteController(bench.recorder, time=bench.time, handle_sigterm=False))
        return made[-1]

    for policy in (ModePolicy("brust"), ModePolicy(allowed=("brust",))):
        exchange = asyncio.run(lifespan("startup").run(AsgiVotes(lives, make, policy)))
        assert [message["type"] for message in exchange.sent] == ["lifespan.startup.failed"]
        assert "did you mean burst?" in exchange.sent[0]["message"]
    assert bench.simulated.power_config_ids == ()
    with pytest.raises(SessionClosed):
        made[0].session("burst")


@pytest.mark.parametrize("wrong", ["factory", "policy"])
def test_any_error_fails_the_start(bench: Bench, wrong: str) -> None:
    """A server would take an exception for an application without a lifespan, and serve without its start-up."""

    def make() -> VoteController:
        raise OSError("the folder is not writable")

    controller = make if wrong == "factory" else bench.controller
    served = AsgiVotes(lives, controller, ModePolicy(core_ids=(0, 0)))
    exchange = asyncio.run(lifespan("startup").run(served))
    (failed,) = exchange.sent
    assert failed["type"] == "lifespan.startup.failed"
    assert ("not writable" if wrong == "factory" else "core_ids") in failed["message"]


def test_an_application_whose_lifespan_fails(bench: Bench, policy: ModePolicy) -> None:
    """Its error is passed on, and its requests still vote."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        await send(START)
        await send(part())

    served = AsgiVotes(app, bench.controller, policy)
    with pytest.raises(AssertionError):
        asyncio.run(lifespan("startup").run(served))
    assert asyncio.run(Exchange.of("/v1/chat").run(served)).status == 200


def test_wrong_controllers() -> None:
    """A controller, or a function that makes one."""
    with pytest.raises(TypeError, match="controller is 'qnn': a VoteController, or a function"):
        AsgiVotes(lives, "qnn")  # type: ignore[arg-type]


def test_requests_share_the_sustain_time_of_their_mode(bench: Bench, served: AsgiVotes, now: Now) -> None:
    """Three requests in a row make one raise, and after the sustain time one lowering."""
    for _ in range(3):
        asyncio.run(Exchange.of("/v1/chat").run(served))
    assert len(bench.votes) == 1
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (len(bench.votes), now()[2]) == (2, State.LOWERED)
