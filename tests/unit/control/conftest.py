"""Actions that hang, and no threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from hanging import Hang, start_no_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def hang() -> Iterator[Callable[[], Hang]]:
    """Yield what makes actions that hang; let all of them go in the end."""
    made: list[Hang] = []

    def make() -> Hang:
        made.append(Hang())
        return made[-1]

    yield make
    for each in made:
        each.let_go.set()


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no thread be started."""
    monkeypatch.setattr(threading.Thread, "start", start_no_thread)
