"""The messages of a client and their order, without a socket: both clients drive these generators.

A generator yields a step, and is sent the answer. ``CONNECT`` asks for a new connection, ``DISCONNECT`` for its end; a
``Message`` is sent, and answered if it has an id. If the driver can't do a step, it throws an OSError into the
generator: then the client goes on without votes, and connects again later.
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
# A service that has not answered a message for a new connection by then is not waited for, in seconds.
SOON_S = 0.1
FORKED = "this is a forked child: connect in the child"
# The errors that say that a lease does not exist, or can't be had.
_ENDED = ("no lease", "lease ended", "profile", "votes refused")
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
        soon: whether an inference waits for a new connection meanwhile, so that a late answer is not waited for.
    """

    line: bytes
    id: int | None
    soon: bool = False

    def within_s(self, timeout_s: float) -> float:
        """Return how long to wait for the answer, in seconds, if the client waits for so long otherwise."""
        return min(timeout_s, SOON_S) if self.soon else timeout_s


DISCONNECT = Message(b"", None)


@attrs.define(eq=False)
class Held:
    """A lease, as the client knows it.

    Attributes:
        fields: the fields of ``hold`` that request it.
        window_us: how long the votes stay up after a begin without a message; None without a window.
        number: its number in the present connection; None without one.
        running: the numbers of its inferences that run.
        renew_ns: until then a begin needs no message.
        until_ns: when its deadline ends it; None without a deadline.
        profile: the name of the profile in use at the last answer: the one that was requested, or the user's cap.
        refused: whether a begin was refused; each lease says so once.
    """

    fields: dict[str, Any]
    window_us: int | None = None
    number: int | None = None
    running: set[int] = attrs.field(factory=set)
    renew_ns: int = 0
    until_ns: int | None = None
    profile: str = ""
    refused: bool = False


if TYPE_CHECKING:
    Talk = Generator[Message | None, dict[str, Any] | None, Any]


class Conversation:
    """The leases of a client, and its messages about them.

    Args:
        name: the client's program, for the status and the logs of the service.
        place: the service's socket or pipe, for the log.
        now_ns: a clock that never goes back.
    """

    def __init__(self, name: str, place: str, now_ns: Callable[[], int]) -> None:
        self._name = name
        self._place = place
        self._now_ns = now_ns
        self._ids = itertools.count(1)
        self._inferences = itertools.count(1)
        self._leases: list[Held] = []
        self._retry_ns = 0
        self._pause_s = FIRST_PAUSE_S
        self._told = False
        self.connected = False

    def closed(self) -> None:
        """Note that there is no connection now, and so no lease."""
        self.connected = False
        for held in self._leases:
            held.number, held.renew_ns = None, 0

    def lost(self, error: OSError) -> None:
        """Note that the connection is lost; the first time in a row this is logged as a WARNING."""
        self.closed()
        self._retry_ns = self._now_ns() + int(self._pause_s * 1e9)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        if not self._told:
            self._told = True
            reason = error.strerror or error
            _LOGGER.warning("no votes from the service at %s: %s; tried again later", self._place, reason)

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
            except ServiceRefused:
                raise
            except BaseException:
                # The service may have made the lease, and would keep it as long as the connection.
                self.closed()
                yield DISCONNECT
                raise
        self._leases.append(held)

    def begin(self, held: Held) -> Talk:
        """Begin an inference; return its number. A service that fails or refuses costs only the votes."""
        number = _WINDOW if held.window_us is not None else next(self._inferences)
        try:
            connected = yield from self.connect(soon=True)
            held.running.add(number)
            if connected and held.number is not None:
                yield from self._begin(held, number)
        except OSError as error:
            self.lost(error)
        except ServiceRefused as refused:
            held.running.discard(number)
            self._refused(held, refused)
        except BaseException:
            # The caller gets no number, so nothing else could end the inference.
            message = self.end(held, number)
            if message is not None:
                yield message
            raise
        return number

    def end(self, held: Held, number: int) -> Message | None:
        """End an inference; return the message for the service, which has no answer, or None if none is needed."""
        if number not in held.running or held.window_us is not None:
            return None
        held.running.discard(number)
        if not self.connected or held.number is None:
            return None
        return self._message(None, "end", lease=held.number, inference=number)

    def use(self, held: Held, profile: str) -> Talk:
        """Change the profile of a lease.

        Raises:
            ServiceRefused: the service refuses it, or the lease has ended; it keeps its profile.
        """
        if held not in self._leases:
            raise ServiceRefused("lease ended", "the lease has ended", "request a new one with hold")
        answer: dict[str, Any] = {}
        if (yield from self.connect()) and held.number is not None:
            try:
                answer = yield from self.ask("use", lease=held.number, profile=profile)
            except OSError as error:
                self.lost(error)
        held.fields["profile"] = profile
        held.profile = str(answer.get("profile", profile))

    def release(self, held: Held) -> Talk:
        """End a lease."""
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

    def close(self) -> Talk:
        """Disconnect."""
        self.closed()
        yield DISCONNECT

    def status(self) -> Talk:
        """Return the answer to ``status``; None without a service."""
        if not (yield from self.connect()):
            return None
        try:
            return (yield from self.ask("status"))
        except OSError as error:
            self.lost(error)
            return None

    def connect(self, *, soon: bool = False) -> Talk:
        """Connect, unless there is a connection or the last try is not long ago; return whether there is one.

        The leases are requested again, and their inferences that run are begun again. ``soon`` is for the begin of an
        inference, which must not wait for a service that hangs or starts.
        """
        if self.connected or self._now_ns() < self._retry_ns:
            return self.connected
        try:
            yield CONNECT
            yield from self.ask("hello", soon=soon, protocol=PROTOCOL, name=self._name)
            for held in tuple(self._leases):
                yield from self._renew(held, soon=soon)
            self.connected = True
        except OSError as error:
            self.lost(error)
        except ServiceRefused as refused:
            self.lost(OSError(str(refused)))
        except BaseException:
            self.closed()
            yield DISCONNECT
            raise
        return self.connected

    def ask(self, verb: str, *, soon: bool = False, **fields: Any) -> Talk:
        """Send a message, and return the answer; ``soon`` as in ``Message``.

        Raises:
            ServiceRefused: the service refuses it.
        """
        answer = (yield self._message(next(self._ids), verb, soon=soon, **fields)) or {}
        if not answer.get("ok"):
            said = [str(answer.get(name, "")) for name in ("error", "message", "hint")]
            raise ServiceRefused(*said)
        return answer

    def _request(self, held: Held, *, soon: bool = False) -> Talk:
        fields, now_ns = dict(held.fields), self._now_ns()
        if held.until_ns is not None:
            # The deadline counts from the first request.
            fields["deadline_us"] = max(1, (held.until_ns - now_ns) // 1000)
        answer = yield from self.ask("hold", soon=soon, **fields)
        number, deadline_us = answer.get("lease"), answer.get("deadline_us")
        if not isinstance(number, int):
            raise ConnectionError("it answers without the number of a lease")
        held.number = number
        held.profile = str(answer.get("profile", fields["profile"]))
        if isinstance(deadline_us, int):
            held.until_ns = now_ns + deadline_us * 1000

    def _renew(self, held: Held, *, soon: bool) -> Talk:
        try:
            yield from self._request(held, soon=soon)
            for number in sorted(held.running - {_WINDOW}):
                yield from self.ask("begin", soon=soon, lease=held.number, inference=number)
        except ServiceRefused as refused:
            self._refused(held, refused)

    def _begin(self, held: Held, number: int) -> Talk:
        fields: dict[str, Any] = {"lease": held.number, "inference": number}
        if held.window_us is not None:
            fields["window_us"] = held.window_us
        begun_ns = self._now_ns()
        yield from self.ask("begin", **fields)
        if held.window_us is not None:
            # An inference that begins before this time has at least half the window.
            half_ns = begun_ns + held.window_us * 500
            held.renew_ns = half_ns if held.until_ns is None else min(half_ns, held.until_ns)
        # Only now is it certain that the service votes.
        self._pause_s = FIRST_PAUSE_S
        if self._told:
            self._told = False
            _LOGGER.warning("the service of htppower votes again")

    def _refused(self, held: Held, refused: ServiceRefused) -> None:
        """Go on without votes. If the lease has ended, it is forgotten."""
        if refused.error in _ENDED:
            if held in self._leases:
                self._leases.remove(held)
            held.number = None
        if not held.refused:
            held.refused = True
            _LOGGER.warning("an inference of the lease for %r has no votes: %s", held.fields["reason"], refused)

    def _message(self, number: int | None, verb: str, *, soon: bool = False, **fields: Any) -> Message:
        message = {"do": verb, **fields} if number is None else {"do": verb, "id": number, **fields}
        return Message(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n", number, soon)


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
    """Return a lease that is not requested yet.

    Raises:
        ValueError: the window is not a whole number of microseconds, 1 or more. The service checks all other fields.
    """
    if window_us is not None and (type(window_us) is not int or window_us < 1):
        raise ValueError(
            f"window_us is {window_us!r}: a whole number of microseconds, 1 or more, or None for no window"
        )
    fields = {
        "profile": profile,
        "reason": reason,
        "owner": owner,
        "deadline_us": deadline_us,
        "device_id": device_id,
        "core_ids": list(core_ids),
    }
    stated = {name: value for name, value in fields.items() if value is not None}
    return Held(stated, window_us, profile=profile)
