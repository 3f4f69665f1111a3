"""Objects that are garbage collected or dropped: phases end, sessions close, holds and caps end."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import MAX_CORNER, Bench
from support.inside import engine_of, gate_of

from htppower import State, ThermalCap
from htppower.control.core.line import Urgency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from htppower.control.session import Session


def dropped_in_a_cycle(held: AbstractContextManager[Any]) -> None:
    """Leave a generator that has entered the context manager to the garbage collector, in a cycle."""

    def holding() -> Iterator[Any]:
        with held:
            yield

    cycle: list[Any] = [holding()]
    next(cycle[0])
    cycle.append(cycle)


def _hot(bench: Bench) -> ThermalCap:
    """Return a thermal cap that is set."""
    with tempfile.TemporaryDirectory() as root:
        zone = Path(root) / "thermal_zone0"
        zone.mkdir()
        (zone / "type").write_text("npu", encoding="utf-8")
        (zone / "temp").write_text("90000", encoding="utf-8")
        return ThermalCap(bench.controller, above_c=80, below_c=70, root=root)


def collect_under_locks(session: Session, bench: Bench) -> None:
    """Collect garbage while this thread holds the line and the session's gate."""

    def step() -> None:
        with gate_of(session).lock:
            gc.collect()

    engine_of(bench.controller).line.run(step, Urgency.LOWER)


def test_a_status_file_of_a_collected_generator_is_closed_soon(bench: Bench, tmp_path: Path) -> None:
    """A status file that is collected while its thread holds the line and a gate is closed when time next advances."""
    session = bench.controller.session("burst")
    served = bench.controller.serve_status(tmp_path / "status.json")
    gc.disable()
    try:
        dropped_in_a_cycle(served)
        collect_under_locks(session, bench)
    finally:
        gc.enable()
    bench.time.advance_us(0)
    assert served.closed


@pytest.mark.parametrize(
    ("what", "given_up"),
    [
        (lambda bench, session: session.inference(), lambda bench, session: session.in_flight == 0),
        (lambda bench, session: session.init(), lambda bench, session: gate_of(session).tokens.preparing == ()),
        (
            lambda bench, session: session.hold("balanced", reason="test"),
            lambda bench, session: not bench.controller.status().sessions[0].holds,
        ),
        (
            lambda bench, session: bench.controller.cap("balanced", reason="test"),
            lambda bench, session: not bench.controller.caps,
        ),
        (lambda bench, session: session, lambda bench, session: session.state is State.DESTROYED),
        (lambda bench, session: bench.controller, lambda bench, session: session.state is State.DESTROYED),
        (lambda bench, session: _hot(bench), lambda bench, session: not bench.controller.caps),
    ],
    ids=["inference", "init", "hold", "cap", "session", "controller", "thermal cap"],
)
def test_what_a_collected_generator_held_is_given_up_soon(
    what: Callable[[Bench, Session], AbstractContextManager[Any]], given_up: Callable[[Bench, Session], bool]
) -> None:
    """An object that is collected while its thread holds the line and a gate ends when time next advances."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    gc.disable()
    try:
        dropped_in_a_cycle(what(bench, session))
        assert not given_up(bench, session)
        collect_under_locks(session, bench)
    finally:
        gc.enable()
    bench.time.advance_us(0)
    assert given_up(bench, session)


def test_a_session_that_nobody_refers_to_is_closed(bench: Bench) -> None:
    """A dropped session is lowered and its id destroyed when time advances, even within its sustain time."""
    session = bench.controller.session("burst")
    bench.infer(session)
    del session
    bench.time.advance_us(0)
    assert (bench.controller.status().sessions, bench.simulated.power_config_ids) == ((), ())


@pytest.mark.parametrize(
    "kept",
    [
        lambda session: session.begin(),
        lambda session: session.inference(),
        lambda session: session.stream([1, 2]),
        lambda session: session.votes(len),
    ],
    ids=["ticket", "inference", "stream", "decorated"],
)
def test_what_is_made_of_a_session_keeps_it_open(bench: Bench, kept: Callable[[Session], object]) -> None:
    """An object made from a session keeps it open; the session is closed when that object is dropped, too."""
    made = kept(bench.controller.session("burst"))
    gc.collect()
    bench.time.advance_us(0)
    assert len(bench.controller.status().sessions) == 1
    del made
    gc.collect()
    bench.time.advance_us(0)
    assert bench.controller.status().sessions == ()


def test_a_cap_that_nobody_refers_to_is_lifted(bench: Bench) -> None:
    """If the handle of a cap is dropped, the cap is lifted."""
    session, cap = bench.controller.session("burst"), bench.controller.cap("balanced", reason="test")
    assert (session.profile.name, cap.active) == ("balanced", True)
    del cap
    bench.time.advance_us(0)
    assert (session.profile.name, bench.controller.caps) == ("burst", ())


def test_the_votes_of_a_collected_inference_come_down() -> None:
    """The votes of a collected inference are lowered after the sustain time, as after any inference."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    dropped_in_a_cycle(session.inference())
    assert bench.effective().core_target == MAX_CORNER
    gc.collect()
    bench.time.advance_us(300_000)
    assert session.state is State.LOWERED


@pytest.mark.parametrize(
    ("begin", "ended"),
    [
        (lambda bench, session: session.begin().end, lambda bench, session: session.in_flight == 0),
        (
            lambda bench, session: session.hold("balanced", reason="test", timeout_us=10**9).release,
            lambda bench, session: not bench.controller.status().sessions[0].holds,
        ),
        (
            lambda bench, session: bench.controller.cap("balanced", reason="test").lift,
            lambda bench, session: not bench.controller.caps,
        ),
    ],
    ids=["ticket", "hold", "cap"],
)
def test_what_a_collected_generator_ends_by_hand_ends_soon(
    bench: Bench, begin: Callable[..., Callable[[], None]], ended: Callable[..., bool]
) -> None:
    """If a generator's ``finally`` runs while the thread holds the line and a gate, its work is done afterwards."""
    session = bench.controller.session("burst")
    end = begin(bench, session)

    @contextlib.contextmanager
    def by_hand() -> Iterator[None]:
        try:
            yield
        finally:
            end()

    gc.disable()
    try:
        dropped_in_a_cycle(by_hand())
        collect_under_locks(session, bench)
    finally:
        gc.enable()
    bench.time.advance_us(0)
    assert ended(bench, session)
