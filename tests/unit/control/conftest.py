"""Actions that hang, a process without threads, a controller in real time, and a second controller on a backend."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from support.hanging import Hang, start_no_thread
from support.second_controller import second_on

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.bench import Bench


@pytest.fixture
def hang() -> Iterator[Callable[[], Hang]]:
    """Yield a function that makes actions which hang; let all of them return at the end."""
    made: list[Hang] = []

    def make() -> Hang:
        made.append(Hang())
        return made[-1]

    yield make
    for each in made:
        each.let_go.set()


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every start of a thread fail."""
    monkeypatch.setattr(threading.Thread, "start", start_no_thread)


@pytest.fixture
def controller() -> Iterator[VoteController]:
    """Yield a controller in real time; close it."""
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as made:
        yield made


@pytest.fixture
def other(bench: Bench) -> Iterator[VoteController]:
    """Yield a second controller on the bench's recorder; close it."""
    made = second_on(bench)
    yield made
    made.close()
