"""The lifetime of a session: its opening creates the power config ids, and its closing destroys them.

Between the two, the ``reconciler`` settles the session. The line is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.core.meaning import Meaning, meaning_of
from htppower.control.core.state_machine import Step
from htppower.control.core.tellers import tell_degradations
from htppower.errors import VoteRejected, kept, without_frames
from htppower.events import Cause, ReleaseFailed, SessionOpened, State, Trigger

if TYPE_CHECKING:
    from htppower.control.core.caster import Caster
    from htppower.control.core.home import Home
    from htppower.control.core.reconciler import Reconciler
    from htppower.control.core.session_record import SessionRecord


class Lifetimes:
    """Opens and closes the sessions of a controller.

    Args:
        home: the parts that the sessions share.
        caster: creates and destroys ids.
        reconciler: makes the transitions.
    """

    def __init__(self, home: Home, caster: Caster, reconciler: Reconciler) -> None:
        self._home = home
        self._registry = home.registry
        self._planner = home.planner
        self._events = home.events
        self._recovery = home.engine.recovery
        self._link = home.engine.recovery.link
        self._caster = caster
        self._reconciler = reconciler

    def open(self, session: SessionRecord) -> None:
        """Create a session's ids, and register the session. If the link is down, the session opens as UNKNOWN.

        Raises:
            VoteRejected: an id can't be created although the link is well.
            SessionClosed: the controller was closed before the session was open.
        """
        self._registry.require_open()
        if session.handle is not None and session.handle() is None:
            # The call of ``VoteController.session`` was interrupted. Its caller has no session, so none is opened.
            return
        # A cap may have been set or lifted since the session was made.
        plan = self._planner.plan(session.chosen(self._registry.caps))
        if plan != session.plan:
            session.gate.use_plan(plan)
        session.epoch = self._link.epoch
        error = None
        if session.plan.casts:
            error = self._create_ids(session)
        self._registry.add(session)
        self._events.tell(SessionOpened, session, power_config_ids=tuple(session.power_config_ids.values()))
        tell_degradations(session, ())
        if not session.plan.casts:
            session.gate.set_open()
        elif error is not None:
            self._reconciler.machine.lose(session, error, Cause.SESSION_OPENED)
            self._recovery.note_failure(session)
        if self._registry.closed:
            # The controller was closed during the calls. Its close may have run before this session was registered, and
            # so missed it.
            self.close(session)
            self._registry.require_open()

    def _create_ids(self, session: SessionRecord) -> VoteRejected | None:
        if not self._recovery.may_call():
            return self._link.error
        try:
            self._caster.create_ids(session)
        except VoteRejected as error:
            if meaning_of(error) is Meaning.REFUSED:
                self._caster.give_back(session)
                raise
            return without_frames(error)
        return None

    def close(self, session: SessionRecord) -> list[VoteRejected]:
        """Lower a session, end its settings and destroy its ids; return the failures.

        Every step is tried even if an earlier one failed.
        """
        failures: list[VoteRejected] = []
        if session.gone or session.number not in self._registry.sessions:
            return failures
        session.gate.close()
        if session.epoch != self._link.epoch:
            self._reconciler.note_loss(session)
        step = Step(Trigger.LOWER, session.plan.relaxed(after_deinit=session.gate.use().after_deinit))
        for _ in range(2):
            lowers = session.state in (State.RAISED, State.UNKNOWN) and session.ledgers and session.plan.casts
            if not lowers or not self._recovery.may_call():
                break
            error = self._reconciler.machine.make(session, step, Cause.SESSION_CLOSED, None)
            if error is None:
                break
            failures.append(error)
            if session.epoch != self._link.epoch:
                self._reconciler.note_loss(session)
        if self._registry.learnt is not None:
            self._registry.learnt.keep(session)
        not_given_back = self._caster.give_back(session)
        for number, error in not_given_back:
            self._events.tell(ReleaseFailed, session, power_config_id=number, error=kept(error))
            failures.append(error)
        self._reconciler.machine.make(session, Step(Trigger.DESTROY), Cause.SESSION_CLOSED, None)
        self._registry.remove(session)
        self._recovery.note_known(session)
        self._home.heartbeat.stop_if_idle()
        return failures
