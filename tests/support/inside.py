"""The one module of the tests that uses private names of the product; ruff refuses them in all other modules.

Each function says why no public name gives the same. Before you add one, look at ``status``, the events, the recorder
and the simulated HTP.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from htppower.backends import forks, whole_lock
from htppower.control import own_work
from htppower.control.core.engine import ENGINES
from htppower.control.core.line import Urgency
from htppower.control.ledger import ledger, process_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping

    import pytest

    from htppower import Session, VoteController
    from htppower.backends import QnnHtp, SimulatedHtp
    from htppower.backends.qnn.device import OpenDevice
    from htppower.backends.simulated.clocks import Client, ProcessSettings
    from htppower.control.companions import Companions
    from htppower.control.core.engine import Engine
    from htppower.control.core.line import Line
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.event_bus import EventBus, Subscription
    from htppower.control.gate.gate import Gate
    from htppower.control.learning.learnt import Entry, Learnt
    from htppower.control.phases.blocks import Phases
    from htppower.control.recording.recorder import Recording
    from htppower.control.status.status_file import StatusFile
    from htppower.control.time.scheduler import SystemTime
    from htppower.profiles.cache import ProfileCache
    from htppower.subscribers.chrome_trace import ChromeTrace
    from htppower.subscribers.multiprocess import StatusFiles
    from htppower.subscribers.prometheus import PrometheusMetrics
    from htppower.testing import VirtualTime
    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.session_advice import Aim, SessionAdvice
    from htppower.votes.vote_set import VoteSet

LONG_S = 30


def patch_private(patch: pytest.MonkeyPatch, owner: Any, **names: Any) -> None:
    """Replace private names, given without the underscore, of a module or class, until the patch is undone.

    These are limits that a test can't reach at their real size, and steps of a function that a test makes fail. A host
    has no use for either.
    """
    for name, value in names.items():
        patch.setattr(owner, f"_{name}", value)


# Sessions and their phases.


def record_of(session: Session) -> SessionRecord:
    """Return the record of a session: a test uses it with parts of the core, which take records and not sessions."""
    return session._record


def gate_of(session: Session) -> Gate:
    """Return the gate of a session: a test holds its lock, or ends a phase in the middle of another phase."""
    return session._record.gate


def session_of(gate: Gate) -> object:
    """Return the record that a gate belongs to: a test that patches a method of the gate gets only the gate."""
    return gate._session


def phases_of(session: Session) -> Phases:
    """Return the phases of a session: a test makes the steps of an interrupted begin one by one."""
    return session._phases


# Controllers and their parts.


def is_ended(controller: VoteController) -> bool:
    """Return whether a controller has closed all its parts; its repr says only that ``close`` has begun."""
    return controller._ending.ended


def end_process(controller: VoteController, timeout_s: float) -> None:
    """Close a controller as at interpreter exit: its ``close`` alone refuses the phases that begin later."""
    controller._end_process(timeout_s)


def engine_of(controller: VoteController) -> Engine:
    """Return the engine: a test occupies its line, or reads the state of the link without making a whole status."""
    return controller._engine


def run_on_the_worker(controller: VoteController, action: Callable[[], object]) -> None:
    """Let the worker run an action soon; hosts can only submit native calls."""
    controller._engine.submit(action, Urgency.RAISE)


def drain(controller: VoteController) -> bool:
    """Wait until the worker has run what it was given before; no public call waits for work of other threads."""
    return controller._engine.submit(lambda: None, Urgency.HEARTBEAT).wait(LONG_S)


def is_free(line: Line) -> bool:
    """Return whether no thread holds a line; ``is_held`` is only about this thread."""
    return line._holder is None


def companions_of(controller: VoteController) -> Companions:
    """Return the list of caps and status files: a test closes the controller in the middle of a change of it."""
    return controller._companions


def collectable_parts(controller: VoteController) -> Iterator[weakref.ref[Any]]:
    """Yield weak references to a controller and to parts of it, which a host never sees."""
    for part in (controller, controller._time, controller._backend, controller._process_exit):
        yield weakref.ref(part)


def subscription_count(controller: VoteController) -> int:
    """Return how many subscribers a controller has, also those that get no events, which have no effect."""
    return len(controller._events._subscriptions)


def replace_subscriptions(bus: EventBus, kind: Callable[[tuple[Subscription, ...]], tuple[Subscription, ...]]) -> None:
    """Convert the subscriptions to a kind of tuple that lets another thread run while it is iterated."""
    bus._subscriptions = kind(bus._subscriptions)


def locks_of(controller: VoteController, htp: SimulatedHtp) -> Iterator[Any]:
    """Yield each lock that an interrupt could leave held: locks have no public name."""
    yield from (record.gate.lock for record in controller._registry.all())
    yield from (ENGINES._lock, controller._registry._lock, controller._events._changing, htp._lock)


def share_profiles(controller: VoteController, loaded: dict[str, Any]) -> None:
    """Let controllers share loaded profiles: each has its own cache, and thousands of tests would fill each anew."""
    controller._claims.profiles._entries = loaded


def kept_profiles(cache: ProfileCache) -> int:
    """Return how many profiles a cache keeps: a cache has no effect that shows its size."""
    return len(cache._entries)


def may_hold_a_lock(module: str) -> bool | None:
    """Return whether functions of a module may hold a lock: frames of a frozen application can't be made."""
    return own_work._holds(module)


# Files, recordings, learnt times.


def leave_behind(file: StatusFile) -> None:
    """Give up a status file without removing or changing it, as a process that is killed does."""
    file._disown()


def end_record_late(controller: VoteController, recording: Recording) -> None:
    """End a recording in the registry once more, as a second thread that closes it may do late."""
    controller._registry.end_record(recording._add)


def write_now(recording: Recording) -> None:
    """Write what is pending on this thread, so that a benchmark can time it."""
    recording._write()


def flush_learnt(controller: VoteController) -> None:
    """Write the learnt times, as the background does once in a while; ``close`` would also end the sessions."""
    learnt = controller._registry.learnt
    assert learnt is not None
    learnt.flush()


def add_learnt(learnt: Learnt, entries: Iterable[Entry]) -> None:
    """Add entries: only sessions can do that, and a test needs no sessions here."""
    learnt._add(entries)


# Time, locks, forks.


def alarm_count(time: SystemTime) -> int:
    """Return how many alarms are in the heap: cancelled alarms have no other effect than memory."""
    return len(time._alarms)


def zone_of(time: SystemTime) -> Any:
    """Return the time zone that APScheduler gets, which is the whole clock of the scheduler."""
    return time._zone


def has_callbacks(time: VirtualTime) -> bool:
    """Return whether callbacks wait for the next move of the time; ``alarms`` does not count them."""
    return not time._soon.empty()


def lock_of_3_14() -> Any:
    """Return the lock for CPython 3.14, also on older versions, where ``whole_lock`` returns another lock."""
    return whole_lock._WholeLock()


def fork_calls() -> MutableMapping[Any, Callable[[Any], None]]:
    """Return the calls for forked children: without a fork, they have no effect."""
    return forks._CALLS


def call_as_forked() -> None:
    """Make the calls of a forked child, in this process."""
    forks._call_all()


# The ledger and the tools.


def ledger_complete() -> Callable[..., Any]:
    """Return the function that completes a vote: tests replace it by a wrong one, and check that this is found."""
    return ledger._complete


def aggregated(wishes: tuple[VoteSet, ...]) -> VoteSet:
    """Return the settings for the wishes of all sessions: such a mistake needs them."""
    return process_settings._aggregated(wishes)


def forget_computed() -> None:
    """Forget the cached results of the ledger, which were computed with or without such a mistake."""
    for computed in (
        *(ledger._difference, ledger._sending, ledger._sent),
        *(ledger._carrying, ledger._carrying_difference),
    ):
        computed.cache_clear()


def ended_chunks(client: Any, under_way: dict[Any, Any], tell: Callable[[str], None]) -> list[Any]:
    """Wait for chunks on a cluster: a test has a stand-in for the client, and no cluster without workers."""
    from htppower.tools.tuning.fleet import on_dask  # noqa: PLC0415 - Dask may be missing

    return on_dask._done(client, under_way, tell)


def kept_choices(advice: SessionAdvice, aim: Aim, most: int) -> list[Choice]:
    """Return the choices that are combined over sessions: a test compares the result with trying each combination."""
    from htppower.tools.tuning import shared  # noqa: PLC0415 - numpy may be missing

    return shared._kept(advice, aim, most)


# Subscribers.


def unsubscribe(metrics: PrometheusMetrics) -> None:
    """Withhold events from metrics, as if they were all still under way."""
    metrics._unsubscribe()


def label_names(metrics: PrometheusMetrics) -> dict[str, tuple[str, ...]]:
    """Return the labels of each counter and histogram: a scrape shows only series that have a sample."""
    from htppower.subscribers.prometheus import _calls_saved  # noqa: PLC0415 - it may be missing
    from htppower.subscribers.snapshot import state_seconds  # noqa: PLC0415 - as above

    counted = metrics._counted
    found = {
        metric._name + ("_total" if metric._type == "counter" else ""): tuple(metric._labelnames)
        for metric in vars(counted).values()
        if hasattr(metric, "_labelnames")
    }
    status = metrics._controller.status()
    for sample in (_calls_saved(counted.sums(), status), state_seconds(counted.sums().state_us, status)):
        found[sample.name] = sample.labels
    return found


def counted_in(files: StatusFiles, name: str) -> float | None:
    """Return the value of a counter: only several processes have a public registry of them."""
    return files._registry.get_sample_value(name)


def replace_file(trace: ChromeTrace, made: Any) -> None:
    """Let a trace write to a file that a test has made, such as one on a full disk."""
    assert trace._file is not None
    trace._file._file.close()
    trace._file._file = made


# Backends.


def clients_of(htp: SimulatedHtp) -> dict[int, Client]:
    """Return the votes of each id; ``effective`` aggregates those of all ids on a core."""
    return htp._clients


def settings_of(htp: SimulatedHtp) -> ProcessSettings:
    """Return the process's settings; the simulation reads them after every step, and ``effective`` takes 0.1 ms."""
    return htp._process


def is_restart_unnoticed(htp: SimulatedHtp) -> bool:
    """Return whether no call has met the last restart: asking by a call would change the answer."""
    return htp._unnoticed


def remembered_by(htp: SimulatedHtp) -> object:
    """Return what the device library remembers of its ids; its effect on later votes needs many calls to see."""
    assert htp._device is not None
    return htp._device._remembered


def is_well(htp: SimulatedHtp) -> bool:
    """Return whether the link works, and no call will find a loss: asking by a call would change the answer."""
    link = _link_of(htp)
    if link is not None:
        return link._answer is None and not link._dead and not htp._without_device
    return not (htp._dead or htp._restarted or htp._without_device)


def is_dead(htp: SimulatedHtp) -> bool:
    """Return whether the link works again only if the device is made anew, or the DSP comes up."""
    link = _link_of(htp)
    if link is not None:
        return link._dead or link._answer == "crashed" or not link._dsp_is_up or htp._without_device
    return htp._dead or htp._without_device


def is_dsp_up(htp: SimulatedHtp) -> bool:
    """Return whether a device can be made; trying it would make one."""
    link = _link_of(htp)
    return not htp._dead if link is None else link._dsp_is_up


def _link_of(htp: SimulatedHtp) -> Any:
    return None if htp._device is None else htp._device.link


def device_of(backend: QnnHtp) -> OpenDevice:
    """Return the open device: backends share it, and a test calls or replaces its native functions."""
    return backend._device


def ready_structs(backend: QnnHtp) -> int:
    """Return how many native structs a backend keeps; they have no other effect than memory."""
    return len(backend._ready)
