"""The messages of a client and their order, without a socket: both clients drive these generators.

A generator yields a step, and is sent the answer. ``CONNECT`` asks for a new connection; a ``Message`` is sent, and
answered if it has an id. If the driver can't do a step, it throws an OSError into the generator: then the client goes
on without votes, and connects again later.
"""

from __future__ import annotations

import itertools
import json
import logging
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_LOGGER = logging.getLogger("htppower.service.client")
PROTOCOL = 1
CONNECT = None
# The first pause before the next try to connect, and the longest, in seconds.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
# The number of the inference that a lease with a window has; it only begins anew.
_WINDOW = 0


class ServiceRefused(HtpPowerError):  # noqa: N818 - reads as what it is
    """The service refuses a message.

    Attributes:
        error: the kind of the error, in words that stay the same.
        hint: what to do.
    """

    def __init__(self, error: str, message: str, hint: str) -> None:
        super().__init__(f"the service refuses: {message}: {hint}")
        self.error = error
        self.hint = hint


@attrs.frozen
class Message:
    """A line for the service.

    Attributes:
        line: the message.
        id: the id of its answer; None if no answer is wanted.
    """

    line: bytes
    id: int | None


@attrs.define(eq=False)
class Held:
    """A lease, as the client knows it.

    Attributes:
        fields: the fields of ``hold`` that request it.
        window_us: how long the votes stay up after a begin without a message; None without a window.
        number: its number in the present connection; None without one.
        running: the numbers of its inferences that run.
        renew_ns: until then a begin needs no message.
        over: whether it was released, or has ended by its deadline.
    """

    fields: dict[str, Any]
    window_us: int | None = None
    number: int | None = None
    running: set[int] = attrs.field(factory=set)
    renew_ns: int = 0
    over: bool = False


if TYPE_CHECKING:
    Talk = Generator[Message | None, dict[str, Any] | None, Any]


class Conversation:
    """The leases of a client, and its messages about them.

    Args:
        name: the client's program, for the status and the logs of the service.
        now_ns: a clock that never goes back.
    """

    def __init__(self, name: str, now_ns: Callable[[], int]) -> None:
        self._name = name
        self._now_ns = now_ns
        self._ids = itertools.count(1)
        self._inferences = itertools.count(1)
        self._leases: list[Held] = []
        self._retry_ns = 0
        self._pause_s = FIRST_PAUSE_S
        self._told = False
        self.connected = False

    def lost(self, error: OSError) -> None:
        """Note that the connection is lost; the first time in a row this is logged as a WARNING."""
        self.connected = False
        for held in self._leases:
            held.number, held.renew_ns = None, 0
        self._retry_ns = self._now_ns() + int(self._pause_s * 1e9)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        if not self._told:
            self._told = True
            _LOGGER.warning("no votes: the service of htppower can't be reached: %s; tried again later", error)

    def hold(self, held: Held) -> Talk:
        """Request a lease.

        Raises:
            ServiceRefused: the service refuses it.
        """
        if (yield from self.connect()):
            try:
                yield from self._request(held)
            except OSError as error:
                self.lost(error)
        self._leases.append(held)

    def begin(self, held: Held) -> Talk:
        """Begin an inference; return its number. A service that fails or refuses costs only the votes."""
        number = _WINDOW if held.window_us is not None else next(self._inferences)
        try:
            connected = yield from self.connect()
            held.running.add(number)
            if connected and held.number is not None:
                yield from self._begin(held, number)
        except OSError as error:
            self.lost(error)
        except ServiceRefused as refused:
            self._refused(held, refused)
        except BaseException:
            # The caller gets no number, so nothing else could end the inference.
            yield from self.end(held, number)
            raise
        return number

    def end(self, held: Held, number: int) -> Talk:
        """End an inference; nothing is waited for."""
        if number not in held.running or held.window_us is not None:
            return
        held.running.discard(number)
        if self.connected and held.number is not None:
            try:
                yield self._message(None, "end", lease=held.number, inference=number)
            except OSError as error:
                self.lost(error)

    def use(self, held: Held, profile: str) -> Talk:
        """Change the profile of a lease.

        Raises:
            ServiceRefused: the service refuses it; the lease keeps its profile.
        """
        if (yield from self.connect()) and held.number is not None:
            try:
                yield from self.ask("use", lease=held.number, profile=profile)
            except OSError as error:
                self.lost(error)
        held.fields["profile"] = profile

    def release(self, held: Held) -> Talk:
        """End a lease."""
        held.over = True
        if held not in self._leases:
            return
        self._leases.remove(held)
        number, held.number = held.number, None
        if self.connected and number is not None:
            try:
                yield from self.ask("release", lease=number)
            except OSError as error:
                self.lost(error)
            except ServiceRefused:
                return  # its deadline has passed

    def connect(self) -> Talk:
        """Connect, unless there is a connection or the last try is not long ago; return whether there is one.

        The leases are requested again, and their inferences that run are begun again.
        """
        if self.connected or self._now_ns() < self._retry_ns:
            return self.connected
        try:
            yield CONNECT
            yield from self.ask("hello", protocol=PROTOCOL, name=self._name)
            self.connected = True
            for held in tuple(self._leases):
                yield from self._renew(held)
        except OSError as error:
            self.lost(error)
        except ServiceRefused as refused:
            self.lost(OSError(str(refused)))
        else:
            self._pause_s = FIRST_PAUSE_S
            if self._told:
                self._told = False
                _LOGGER.warning("the service of htppower is reached again")
        return self.connected

    def ask(self, verb: str, **fields: Any) -> Talk:
        """Send a message, and return the answer.

        Raises:
            ServiceRefused: the service refuses it.
        """
        answer = (yield self._message(next(self._ids), verb, **fields)) or {}
        if not answer.get("ok"):
            said = [str(answer.get(name, "")) for name in ("error", "message", "hint")]
            raise ServiceRefused(*said)
        return answer

    def _request(self, held: Held) -> Talk:
        answer = yield from self.ask("hold", **held.fields)
        if not isinstance(answer.get("lease"), int):
            raise ConnectionError("it answers without the number of a lease")
        held.number = answer["lease"]

    def _renew(self, held: Held) -> Talk:
        try:
            yield from self._request(held)
            for number in sorted(held.running - {_WINDOW}):
                yield from self.ask("begin", lease=held.number, inference=number)
        except ServiceRefused as refused:
            self._refused(held, refused)

    def _begin(self, held: Held, number: int) -> Talk:
        window_us = held.window_us
        if window_us is None:
            yield from self.ask("begin", lease=held.number, inference=number)
            return
        begun_ns = self._now_ns()
        yield from self.ask("begin", lease=held.number, inference=number, window_us=window_us)
        # An inference that begins before this time has at least half the window.
        held.renew_ns = begun_ns + window_us * 500

    def _refused(self, held: Held, refused: ServiceRefused) -> None:
        if held in self._leases:
            self._leases.remove(held)
        held.number, held.over = None, True
        _LOGGER.warning(
            "the lease for %r has ended, so its inferences have no votes: %s", held.fields["reason"], refused
        )

    def _message(self, number: int | None, verb: str, **fields: Any) -> Message:
        message = {"do": verb, **fields} if number is None else {"do": verb, "id": number, **fields}
        return Message(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n", number)


def next_step(talk: Talk, answer: dict[str, Any] | None, error: BaseException | None) -> Message | None:
    """Go on with a conversation, after an answer or a failure, and return its next step.

    Raises:
        StopIteration: it has ended; the value is its result.
    """
    return talk.send(answer) if error is None else talk.throw(error)


def parsed(line: bytes) -> dict[str, Any]:
    """Return an answer of the service.

    Raises:
        ConnectionError: it is not an answer, or the service has no room for this client.
    """
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ConnectionError("it answers what is not an object of JSON")
    number = answer.get("id")
    if number is not None and not isinstance(number, int):
        raise ConnectionError("it answers with an id that was not asked")
    if number is None and answer.get("error") == "too many":
        raise ConnectionError(str(answer.get("message")))
    return answer


def held(
    profile: str,
    reason: str,
    *,
    owner: str | None,
    deadline_us: int | None,
    window_us: int | None,
    device_id: int,
    core_ids: tuple[int, ...],
) -> Held:
    """Return a lease that is not requested yet."""
    fields = {
        "profile": profile,
        "reason": reason,
        "owner": owner,
        "deadline_us": deadline_us,
        "device_id": device_id,
        "core_ids": list(core_ids),
    }
    return Held({name: value for name, value in fields.items() if value is not None}, window_us)
