"""The phases of sessions as the host runs them: in a thread, in a generator that is dropped, in a coroutine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.demand import Ended
from simulation.predictions import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.coroutines import Loop
    from simulation.demand import Client
    from simulation.program import Op
    from simulation.public_calls import PublicCalls
    from simulation.specification import Specification


class Phases:
    """Runs phases, and tells the specification what is in use.

    Args:
        specification: is told.
        public: calls the public API.
        loop: the event loop of the host's coroutines.
        run: does what is done during a phase.
    """

    def __init__(
        self,
        specification: Specification,
        public: PublicCalls,
        loop: Loop,
        run: Callable[[tuple[Op, ...]], None],
    ) -> None:
        self._specification = specification
        self._situation = specification.situation
        self._scheduler = specification.situation.scheduler
        self._public = public
        self._loop = loop
        self._run = run

    def infer(self, client: Client, op: Op) -> None:
        """Run an inference."""
        self._phase(client, client.session.inference(), op, preparing=False)

    def prepare(self, client: Client, op: Op) -> None:
        """Run INIT or DE-INIT."""
        phase = client.session.init() if op.kind == "init" else client.session.deinit()
        self._phase(client, phase, op, preparing=True)

    def _phase(self, client: Client, phase: Any, op: Op, *, preparing: bool) -> None:
        """Run a phase."""
        at_begin = op.interrupt if op.interrupt % 2 else 0
        if not self.begin(client, phase.__enter__, at_begin, preparing=preparing):
            return
        self._scheduler.sleep(op.us)
        self._run(op.inner)
        # An exception that went through the phase by itself is no other matter to the count.
        self.end(client, op, lambda: phase.__exit__(None, None, None), preparing=preparing)

    def begin(
        self,
        client: Client,
        enter: Callable[[], object],
        interrupt: int = 0,
        *,
        preparing: bool = False,
        lasts: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Begin a phase; return whether it has begun. ``lasts``: whether it can't have ended by itself since."""
        asked_us, asked, alone, ended = self._scheduler.now_us, client.asked, self.is_alone(client), client.ended
        client.unsettled += 1
        client.ended = None
        ends = None if preparing else client.costs.may_end_gap()
        error = self._public.call("begin", client, enter, interrupt)
        client.costs.has_begun(ends)
        client.unsettled -= 1
        if error is not None:
            client.may_until_us = max(client.may_until_us, self._scheduler.now_us)
            client.foresight.blurred()
            client.costs.known = False
            return False
        certain = alone and client.asked == asked + 1 and self.is_alone(client)
        if ended is not None and ended.asked != asked:
            ended = None
        begun = Span(asked_us, self._scheduler.now_us)
        if preparing:
            self._prepared(client, certain=certain)
        else:
            self._inferred(client, ended, begun, certain=certain)
        self._count(client, 1, preparing=preparing)
        if lasts():
            self._specification.begun(client)
        return True

    def is_alone(self, client: Client) -> bool:
        """Return whether nothing is being asked of a session, nor of all of them."""
        return not (client.unsettled or client.endings or client.closing or self._situation.operations)

    def _prepared(self, client: Client, *, certain: bool) -> None:
        """Take in that INIT or DE-INIT has begun: what was predicted is no matter any more, and no gap ends."""
        if certain:
            client.foresight.nothing_due()
            client.costs.gap_open = False
        else:
            client.foresight.blurred()
            client.costs.known = False

    def _inferred(self, client: Client, ended: Ended | None, begun: Span, *, certain: bool) -> None:
        """Take in that an inference has begun; ``ended``: what is known to have ended last before it."""
        costs, first = client.costs, not client.busy
        watched = all(each.raise_ahead_us for each in client.possible(self._situation.caps))
        client.foresight.began(begun, client.asked, first=first, certain=certain, watched=watched)
        costs.began = None
        if not certain:
            costs.known = False
            return
        possible = [each.profile.name for each in client.possible(self._situation.caps)]
        if len(possible) == 1:
            costs.began = possible[0], client.asked
        if first and costs.gap_open:
            known = ended is not None and ended.at_us is not None and not ended.deinit and begun.exact
            costs.known = costs.known and known
            if ended is not None and ended.at_us is not None and known and possible == [ended.name]:
                gap_us = begun.earliest_us - ended.at_us
                costs.gap(ended.name, gap_us, self._scheduler.clock.idle_us, client.asked)
            else:
                costs.known = False
            if costs.too_high and not client.troubles:
                details = f"{costs}; {self._situation.tell(client)}"
                self._situation.fail("what is learnt costs no more than the bound", details)
        costs.gap_open = False

    def idle(self, client: Client, asked_us: int, *, certain: bool) -> None:
        """Take in that a session is idle, or that a hint comes while it is: votes may be raised ahead from now on."""
        now_us, possible = self._scheduler.now_us, client.possible(self._situation.caps)
        certain = certain and client not in self._specification.troubles
        for look_us in client.foresight.idle(Span(asked_us, now_us), possible, client.asked, certain=certain):
            self._scheduler.call_at(max(look_us, now_us), _nothing)
        if client.foresight.windows or client.foresight.hints:
            client.costs.known = False

    def end(self, client: Client, op: Op, leave: Callable[[], object], *, preparing: bool = False) -> None:
        """End a phase."""
        asked_us = self._scheduler.now_us
        self.end_asked(client, op.kind)
        self._count(client, -1, preparing=preparing)
        asked, alone = client.asked, client.unsettled == 1 and not client.busy
        error = self._public.call("end", client, leave, 0 if op.interrupt % 2 else op.interrupt)
        # Nothing else was asked meanwhile: from now on its votes may stay up for this long, and no longer.
        alone = alone and client.asked == asked + 1 and client.unsettled == 1
        alone = alone and not self._situation.operations
        self.end_done(client, op.kind, alone=alone)
        if isinstance(error, KeyboardInterrupt) and not preparing:
            # "It has ended, once nothing refers to its token any more": a thread counts that, and may be slow.
            self.vague(client)
            self.ends_unseen(client)()
        possible = client.possible(self._situation.caps)
        if alone and error is None and len(possible) == 1:
            at_us = asked_us if asked_us == self._scheduler.now_us else None
            client.ended = Ended(op.kind == "deinit", client.asked, possible[0].profile.name, at_us)
            client.met = {possible[0].profile.name}
            client.costs.learns(possible[0].profile.name, asked)
        if preparing:
            client.costs.gap_open = client.costs.gap_open and not alone
        elif client.preparations and client.asked == asked + 1:
            # "INIT and DE-INIT around them make the time between inferences no gap."
            client.costs.gap_open = False
        elif not client.busy:
            self.idle(client, asked_us, certain=alone and error is None)

    def end_asked(self, client: Client, kind: str) -> None:
        """Take in that a phase is about to end: from now on its votes must stay up for the sustain time."""
        situation, now_us = self._situation, self._scheduler.now_us
        possible = client.possible(situation.caps)
        alone = not any(other.client in (client, None) for other in situation.operations.values())
        claims = (*client.holds, *situation.caps)
        steady = alone and not client.unsettled and not client.closing and all(claim.certain for claim in claims)
        steady = steady and client not in self._specification.troubles
        if kind == "deinit" or not steady:
            client.must_until_us = 0
        elif kind == "init":
            client.must_until_us = max(client.must_until_us, now_us + min(each.after_init_us for each in possible))
        else:
            client.must_until_us = now_us + min(each.least_us for each in possible)
        client.unsettled += 1
        client.costs.ended(self._scheduler.clock.idle_us)

    def end_done(self, client: Client, kind: str, *, alone: bool = False) -> None:
        """Take in that a phase has ended.

        Args:
            client: on which session.
            kind: which phase.
            alone: whether nothing else was asked of the session meanwhile.
        """
        client.unsettled -= 1
        client.ended = None
        kept_us = 0
        if kind != "deinit":
            kept_us = max(
                each.after_init_us if kind == "init" else each.most_us for each in client.possible(self._situation.caps)
            )
        until_us = self._scheduler.now_us + kept_us
        # The end of INIT lets a sustain go on; that of an inference and of DE-INIT sets the time anew.
        client.may_until_us = until_us if alone and kind != "init" else max(client.may_until_us, until_us)
        # Look then, also where nothing else happens.
        self._scheduler.call_at(client.may_until_us, _nothing)

    @staticmethod
    def _count(client: Client, change: int, *, preparing: bool) -> None:
        if preparing:
            client.preparations += change
        else:
            client.inferences += change

    def stream(self, client: Client, op: Op) -> None:
        """Run an inference in a generator that is dropped half-way, and collected in whatever task runs then."""
        session = client.session

        def tokens() -> Iterator[int]:
            with session.inference():
                yield 1
                yield 2

        stream = tokens()
        if not self.begin(client, lambda: next(stream), op.interrupt):
            return
        self._scheduler.sleep(op.us)
        ended = Collected(self.loses(client))
        # A tuple lets go of its last element first: the generator is closed, then what waits for it is told.
        self._scheduler.collect((ended, stream), op.steps)

    def loses(self, client: Client) -> Callable[[], None]:
        """Take in that an inference ends by itself, soon; call what is returned once that is due."""
        self.end_asked(client, "infer")
        self.vague(client)
        client.inferences -= 1
        return lambda: client.endings.append(lambda: self.end_done(client, "infer"))

    def ends_unseen(self, client: Client) -> Callable[[], None]:
        """Take in that an inference may be ending that is not counted any more; as ``loses``."""
        client.unsettled += 1
        client.ended = None
        # That end begins a gap.
        client.costs.gap_open = True
        return lambda: client.endings.append(lambda: self.end_done(client, "infer"))

    @staticmethod
    def vague(client: Client) -> None:
        """Take in that nobody knows when what is asked for of a session is done."""
        client.must_until_us = 0
        client.foresight.blurred()
        client.costs.known = False

    def coroutine(self, client: Client, op: Op) -> None:
        """Run an inference in a coroutine."""
        client.foresight.blurred()
        client.costs.known = False
        self._loop.infer(self, client, op)


def _nothing() -> None:
    """Do nothing."""


class Collected:
    """Calls when it is garbage collected."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def __del__(self) -> None:
        self._call()
