"""Metrics for Prometheus: counted from events, or read from ``status()`` at each scrape.

metrics = PrometheusMetrics(controller)
...
metrics.close()

A series ends when its subject ends, so the number of series stays small. Counted metrics have only labels with few
values, such as causes and states. Only series that are read at the scrape have a session as a label; they end with the
session, whose number is never used again. The totals over all sessions include closed sessions.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter as Sum
from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_part
from htppower.control.gate.cold_starts import WAIT_BOUNDS_US
from htppower.control.log import LOWERINGS
from htppower.events import (
    CallMade,
    CallsSaved,
    Cause,
    ColdStart,
    Degraded,
    LinkChanged,
    LinkState,
    ProfileChanged,
    Recovered,
    ReleaseFailed,
    State,
    Transition,
    Trigger,
)
from htppower.subscribers.snapshot import (
    Sample,
    clock_samples,
    controller_samples,
    encodable,
    session_samples,
    state_seconds,
)
from htppower.votes.native_codes import code_name

try:
    from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.utils import floatToGoString

    from htppower.subscribers.multiprocess import StatusFiles, is_multiprocess
except ImportError as error:
    raise ImportError('prometheus_client can\'t be imported: pip install "htppower[metrics]"') from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.control.controller import VoteController
    from htppower.control.gate.cold_starts import ColdStarts
    from htppower.control.status.controller_status import ControllerStatus
    from htppower.events import Event

_US = 1_000_000
# A call takes 0.1 to 1 ms, and much longer while the DSP restarts.
_CALL_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
# The bins begin at 2 ms, since a timer may be 2 ms late.
_LATENESS_BUCKETS = (0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.5)
_UNKNOWN_BUCKETS = (0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800)
_WAIT_BUCKETS = tuple(bound_us / _US for bound_us in WAIT_BOUNDS_US)
# The bounds are written as prometheus_client's own histograms write them.
_BOUNDS = (*map(floatToGoString, _WAIT_BUCKETS), "+Inf")
_FAILURES = ("lowering", "raise", "link", "release")
_LOSSES = (LinkState.LOST, LinkState.DEAD)


class PrometheusMetrics:
    """The metrics of one controller in a registry; docs/metrics.md lists them.

    Args:
        controller: its events are counted from now on.
        registry: the registry that a scrape reads; by default the library's global one. It accepts the metrics of only
            one controller.
        per_session: whether each open session has series. Switch this off if every request opens a session.
            Multi-process mode has no such series, since in it a series can't end with its session.

    In multi-process mode (``PROMETHEUS_MULTIPROC_DIR``), values that are otherwise read at a scrape are written to the
    files of the mode every 5 s, on a separate thread. Create metrics for only one controller of a process at a time:
    the files have only one place for each series of a process, whatever its registry.

    Raises:
        TypeError: ``controller`` is not a controller.
        ValueError: the registry already has the metrics of a controller.
    """

    def __init__(
        self, controller: VoteController, registry: CollectorRegistry | None = None, *, per_session: bool = True
    ) -> None:
        checked_part(controller, "controller", ("status", "subscribe"), "a VoteController")
        self._controller = controller
        self._registry = REGISTRY if registry is None else registry
        self._per_session = per_session
        self._counted = _Counted()
        self._lock = whole_lock()
        self._highest: dict[str, dict[tuple[str, ...], float]] = {}
        self._counted.begin(controller.status())
        # Registering comes first: if it fails, no subscription is left behind.
        try:
            self._registry.register(self)
        except ValueError:
            raise ValueError(
                "this registry already has the metrics of a controller: close those, or give another registry"
            ) from None
        self._undo = contextlib.ExitStack()
        self._undo.callback(self._registry.unregister, self)
        try:
            self._unsubscribe = controller.subscribe(self._counted)
            self._undo.callback(self._unsubscribe)
            if is_multiprocess():
                self._undo.callback(StatusFiles(self._totals).close)
        except BaseException:
            # The caller never gets this object and can't close it, so it is closed here.
            self.close()
            raise

    def close(self) -> None:
        """Remove the metrics from the registry and end the subscription. Closing twice has no effect."""
        self._undo.close()

    def describe(self) -> Iterator[Metric]:
        """Return the metrics; a registry uses their names to refuse a second controller."""
        return self.collect()

    def collect(self) -> Iterator[Metric]:
        """Return every metric for a scrape; calls ``status()`` once."""
        # This runs without the lock of this object, since a thread that delivers an event may hold a lock of the
        # controller. The sums are read before the status. So if a session leaves a state in between, that time is
        # missing once, but never counted twice.
        sums = self._counted.sums()
        status = self._controller.status()
        yield from self._counted.collect()
        yield from map(_family, self._of_controller(sums, status))
        # Multi-process mode has none of these, since every worker measures the same clock.
        yield from map(_family, clock_samples(status))
        if self._per_session:
            # A metric without a value, such as the sustain time if no session learns one, is left out with its help
            # text.
            for sample in filter(lambda each: each.values, session_samples(status)):
                yield _family(self._never_falling(sample, ended=False) if sample.rises else sample)

    def _totals(self) -> Iterator[Sample]:
        sums = self._counted.sums()
        return self._of_controller(sums, self._controller.status())

    def _of_controller(self, sums: _Sums, status: ControllerStatus) -> Iterator[Sample]:
        for sample in (_calls_saved(sums, status), state_seconds(sums.state_us, status), *controller_samples(status)):
            yield self._never_falling(sample) if sample.rises else sample

    def _never_falling(self, sample: Sample, *, ended: bool = True) -> Sample:
        """Return a total that never falls; with ``ended``, series that are no longer in the status are kept.

        Without this, a total could fall for a moment: if the status includes an event that has not arrived here yet, or
        if an inference that has begun must wait for a call after all.
        """
        with self._lock:
            before = self._highest.get(sample.name, {})
            now = {labels: max(value, before.get(labels, 0.0)) for labels, value in sample.values.items()}
            self._highest[sample.name] = {**before, **now} if ended else now
            return attrs.evolve(sample, values=self._highest[sample.name])


class _Sums(NamedTuple):
    """The sums of all events so far; a scrape adds whatever is still in progress.

    Attributes:
        state_us: the time in each state, over the stays that have ended.
        saved: the calls saved, over all sessions ever.
        saved_of: the saved calls of each open session that are included in ``saved``, or were saved before the first
            event.
    """

    state_us: Sum[State]
    saved: int
    saved_of: Sum[int]


class _Counted:
    """The subscriber: the metrics that are counted from events."""

    def __init__(self) -> None:
        self._lock = whole_lock()
        self._sums = _Sums(Sum(), 0, Sum())
        # A separate registry keeps the metrics in the order of their creation.
        self._registry = CollectorRegistry()
        self._calls = self._counter("calls", "Native calls that returned.", "function", "result")
        self._durations = self._histogram(
            "call_duration_seconds", "How long native calls took.", _CALL_BUCKETS, "function"
        )
        self._transitions = self._counter("transitions", "Changes of a session's state.", "trigger", "cause")
        self._lateness = self._histogram(
            "lowering_lateness_seconds", "How late a timer lowered the votes.", _LATENESS_BUCKETS
        )
        self._failures = self._counter("failures", "Failures, by what they leave behind.", "kind")
        for kind in _FAILURES:
            # Every series starts at 0, since Prometheus sees no increase in the first value of a series.
            self._failures.labels(kind)
        self._recoveries = self._counter("recoveries", "Sessions whose votes are known again.", "cause")
        self._unknown = self._histogram(
            "unknown_duration_seconds", "How long the votes of a session were unknown.", _UNKNOWN_BUCKETS
        )
        self._cold_starts = self._counter("cold_starts", "Inferences that waited for a native call.")
        self._waits = self._histogram("cold_start_wait_seconds", "How long these inferences waited.", _WAIT_BUCKETS)
        self._changes = self._counter("profile_changes", "Changes of the profile that a session uses.", "cause")
        self._degradations = self._counter("degradations", "Votes that the platform lacks.", "rule")
        self._losses = self._counter("link_losses", "Losses of the link to the DSP.", "state")
        for state in _LOSSES:
            self._losses.labels(str(state))

    def __call__(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, CallMade):
            self._calls.labels(event.function, code_name(event.code)).inc()
            self._durations.labels(event.function).observe(event.duration_us / _US)
        elif isinstance(event, Transition):
            self._change_state(event)
        elif isinstance(event, Recovered):
            self._recoveries.labels(str(event.cause)).inc()
            self._unknown.observe(event.unknown_us / _US)
        elif isinstance(event, ColdStart):
            self._cold_starts.inc()
            self._waits.observe(event.wait_us / _US)
        elif isinstance(event, CallsSaved):
            with self._lock:
                self._sums = self._sums._replace(saved=self._sums.saved + event.calls)
                self._sums.saved_of[event.session] += event.calls
        elif isinstance(event, ProfileChanged):
            self._changes.labels(str(event.cause)).inc()
        elif isinstance(event, Degraded):
            self._degradations.labels(event.degradation.rule).inc()
        elif isinstance(event, ReleaseFailed):
            self._failures.labels("release").inc()
        elif isinstance(event, LinkChanged) and event.dest in _LOSSES:
            self._losses.labels(str(event.dest)).inc()

    def begin(self, status: ControllerStatus) -> None:
        """Do not count the calls that sessions have saved before now."""
        with self._lock:
            self._sums.saved_of.update({session.number: session.calls_saved for session in status.sessions})

    def sums(self) -> _Sums:
        """Return the sums so far."""
        with self._lock:
            return _Sums(self._sums.state_us.copy(), self._sums.saved, self._sums.saved_of.copy())

    def collect(self) -> Iterable[Metric]:
        """Return the metrics."""
        return self._registry.collect()

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"htppower_{name}", meaning, labels, registry=self._registry)

    def _histogram(self, name: str, meaning: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"htppower_{name}", meaning, labels, buckets=buckets, registry=self._registry)

    def _change_state(self, event: Transition) -> None:
        self._transitions.labels(str(event.trigger), str(event.cause)).inc()
        with self._lock:
            self._sums.state_us[event.source] += event.lasted_us
            if event.dest is State.DESTROYED:
                self._sums.saved_of.pop(event.session, None)
        if event.late_us is not None:
            self._lateness.observe(event.late_us / _US)
        if event.trigger is Trigger.LOSE:
            self._failures.labels(_failure_kind(event)).inc()


def _calls_saved(sums: _Sums, status: ControllerStatus) -> Sample:
    """Return the calls saved by all sessions: the sum of the events at each lowering, and the calls saved since."""
    since = sum(max(0, session.calls_saved - sums.saved_of[session.number]) for session in status.sessions)
    meaning = "Calls that inferences did not need, since the votes were up."
    return Sample("htppower_calls_saved_total", meaning, (), {(): float(sums.saved + since)})


def _failure_kind(lost: Transition) -> str:
    if lost.cause is Cause.LINK_LOST:
        return "link"
    return "lowering" if lost.attempted in LOWERINGS else "raise"


def _family(sample: Sample) -> Metric:
    if sample.waits is not None:
        return _histogram_family(sample, sample.waits)
    kind = CounterMetricFamily if sample.rises else GaugeMetricFamily
    family = kind(sample.name, sample.meaning, labels=sample.labels)
    for labels, value in sample.values.items():
        family.add_metric([encodable(label) for label in labels], value)
    return family


def _histogram_family(sample: Sample, waits: dict[tuple[str, ...], ColdStarts]) -> Metric:
    family = HistogramMetricFamily(sample.name, sample.meaning, labels=sample.labels)
    for labels, each in waits.items():
        buckets = list(zip(_BOUNDS, map(float, itertools.accumulate(each.by_bound)), strict=True))
        family.add_metric([encodable(label) for label in labels], buckets, each.wait_us / _US)
    return family
