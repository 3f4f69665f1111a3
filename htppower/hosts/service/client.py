"""One client of the service: its leases, and the answer to each of its messages."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from htppower._version import __version__
from htppower.errors import HtpPowerError, ProfileError, SessionClosed
from htppower.events import Degraded, ProfileChanged, Transition
from htppower.hosts.service.lease import Lease
from htppower.hosts.service.messages import (
    PROTOCOL,
    Begin,
    End,
    Hello,
    Hold,
    Release,
    Status,
    Use,
    Watch,
    Wrong,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from htppower.control.session import Session
    from htppower.events import Event
    from htppower.hosts.service.peer import Peer
    from htppower.hosts.service.users import User
    from htppower.hosts.service.voting import Voting

    Answer = dict[str, Any]


class Client:
    """The client of one connection. Its leases end with it.

    Args:
        voting: sends the votes.
        user: the user that the client belongs to.
        peer: its process.
        send: sends it an event.
    """

    def __init__(self, voting: Voting, user: User, peer: Peer, send: Callable[[Answer], None]) -> None:
        self._voting = voting
        self._user = user
        self._peer = peer
        self._send = send
        self._name: str | None = None
        self._numbers = itertools.count(1)
        self._gone = self._watching = False
        self.leases: dict[int, Lease] = {}
        self._verbs: dict[type[Any], Callable[[Any], Answer | Coroutine[Any, Any, Answer]]] = {
            Hello: self._hello,
            Hold: self._hold,
            Begin: self._begin,
            End: self._end,
            Use: self._use,
            Release: self._release,
            Status: self._status,
            Watch: self._watch,
        }

    def answer(self, message: dict[str, Any]) -> Answer | Coroutine[Any, Any, Answer]:
        """Do what a message asks; return the fields of the answer, or what to await for them.

        Raises:
            Wrong: the message is refused; a coroutine raises it, too.
        """
        asked = read(message)
        if self._name is None and type(asked) is not Hello:
            raise Wrong("hello first", "the first message is not hello", 'send {"do": "hello", "protocol": 1, ...}')
        return self._verbs[type(asked)](asked)

    def close(self) -> None:
        """End every lease: the client is gone. The votes are lowered without a wait here."""
        self._gone = True
        for lease in tuple(self.leases.values()):
            self._voting.close_soon(self._ended(lease))

    def _hello(self, hello: Hello) -> Answer:
        self._name = hello.name
        allowed, peer = self._user.allowed, self._peer
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "service": self._voting.name,
            "uid": peer.uid,
            "pid": peer.pid,
            "profiles": list(self._voting.profile_names),
            "cap": None if allowed.cap is None else allowed.cap.name,
            "most_leases": allowed.fields.most_leases,
            "longest_lease_us": allowed.fields.longest_lease_us,
        }

    async def _hold(self, hold: Hold) -> Answer:
        fields = self._user.allowed.fields
        if self._user.leases >= fields.most_leases:
            raise Wrong("too many", f"the user has {fields.most_leases} leases", "release some of them")
        self._user.leases += 1
        owner = hold.owner or self._name or ""
        try:
            session = await _refusable(self._voting.open, hold, owner, self._peer, self._user.allowed)
        except BaseException:
            self._user.leases -= 1
            raise
        number = next(self._numbers)
        lease = self.leases[number] = Lease(number, session, owner, hold.reason)
        if self._gone:
            self._voting.close_soon(self._ended(lease))
            raise Wrong("gone", "the client is gone", "connect again")
        limits = [each for each in (hold.deadline_us, fields.longest_lease_us) if each is not None]
        if limits:
            lease.timer = asyncio.get_running_loop().call_later(min(limits) / 1e6, self._expire, lease)
        self._watch_lease(lease, watched=self._watching)
        return {
            "lease": number,
            "profile": session.profile.name,
            "state": session.state,
            "deadline_us": min(limits, default=None),
            "degradations": [{"rule": each.rule, "message": each.message} for each in session.degradations],
        }

    def _begin(self, begin: Begin) -> Answer | Coroutine[Any, Any, Answer]:
        lease = self._lease(begin.lease)
        raising = lease.begin(begin.inference, begin.window_us)
        return {"state": lease.session.state} if raising is None else self._begun(lease, raising)

    async def _begun(self, lease: Lease, raising: Coroutine[Any, Any, None]) -> Answer:
        await raising
        return {"state": lease.session.state}

    def _end(self, end: End) -> Answer:
        lease = self._lease(end.lease)
        if not lease.end(end.inference):
            raise Wrong("no inference", f"inference {end.inference} does not run", "begin it first", "inference")
        return {}

    async def _use(self, use: Use) -> Answer:
        lease = self._lease(use.lease)
        await _refusable(self._voting.use, lease.session, use.profile, self._user.allowed)
        return {"profile": lease.session.profile.name, "state": lease.session.state}

    async def _release(self, release: Release) -> Answer:
        await self._voting.end(self._ended(self._lease(release.lease)))
        return {}

    def _status(self, _status: Status) -> Answer:
        own = [
            {
                "lease": lease.number,
                "owner": lease.owner,
                "reason": lease.reason,
                "profile": lease.session.profile.name,
                "state": lease.session.state,
                "in_flight": lease.in_flight,
            }
            for lease in self.leases.values()
        ]
        return {"leases": own, "all": self._voting.sums()}

    def _watch(self, watch: Watch) -> Answer:
        self._watching = watch.events
        for lease in self.leases.values():
            self._watch_lease(lease, watched=watch.events)
        return {"events": watch.events}

    def _lease(self, number: int) -> Lease:
        lease = self.leases.get(number)
        if lease is None:
            raise Wrong("no lease", f"lease {number} does not exist, or has ended", "request one with hold", "lease")
        return lease

    def _ended(self, lease: Lease) -> Session:
        """Forget a lease, end its inferences, and return its session, which the caller closes."""
        del self.leases[lease.number]
        self._user.leases -= 1
        self._watch_lease(lease, watched=False)
        lease.end_all()
        return lease.session

    def _expire(self, lease: Lease) -> None:
        self._voting.close_soon(self._ended(lease))
        if self._watching:
            self._send({"event": "lease ended", "lease": lease.number, "message": "its deadline has passed"})

    def _watch_lease(self, lease: Lease, *, watched: bool) -> None:
        def tell(event: Event) -> None:
            self._send({"lease": lease.number, **_shown(event)})

        self._voting.watch(lease.session.number, tell if watched else None)


def _shown(event: Event) -> Answer:
    if isinstance(event, Transition):
        return {"event": "transition", "state": event.dest, "cause": event.cause, "profile": event.profile}
    if isinstance(event, ProfileChanged):
        return {"event": "profile changed", "profile": event.profile, "before": event.before, "reason": event.reason}
    if isinstance(event, Degraded):
        return {"event": "degraded", "rule": event.degradation.rule, "message": event.degradation.message}
    raise AssertionError(event)


async def _refusable(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function on another thread, since it may wait for native calls; its errors refuse the message.

    Raises:
        Wrong: a profile can't be used, or its votes are refused.
    """
    try:
        return await asyncio.to_thread(function, *arguments)
    except ProfileError as error:
        problem = error.problems[0]
        raise Wrong("profile", problem.message, problem.hint, "profile") from None
    except SessionClosed as error:
        raise Wrong("lease ended", str(error), "request a new lease with hold") from None
    except HtpPowerError as error:
        raise Wrong("votes refused", str(error), "name an existing device and core") from None
