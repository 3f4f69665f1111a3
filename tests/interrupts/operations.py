"""What is interrupted: each public operation, in a world that is ready for it.

The modules of operations note theirs here, when ``run`` imports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from interrupts.world import World

    from htppower import Session

Action: TypeAlias = "Callable[[], object]"

SECOND_US = 1_000_000


@attrs.frozen
class Operation:
    """An operation.

    Attributes:
        name: what it is called.
        prepare: makes a world ready; returns what is interrupted, and what takes in that it was not.
        any_kind: whether any exception may come, or only one that asyncio passes on.
        may_be_lost: whether the interpreter runs some of it in a finalizer, in which it loses exceptions.
        one_call_at_a_time: whether the backend says so.
        begun_after: the functions in which nothing was begun: where an interrupt comes there, the host asks once more.
    """

    name: str
    prepare: Callable[[World], Action]
    any_kind: bool = True
    may_be_lost: bool = False
    one_call_at_a_time: bool = False
    begun_after: frozenset[str] = frozenset()


OPERATIONS: list[Operation] = []


def operation(name: str, **options: Any) -> Callable[[Callable[[World], Action]], Callable[[World], Action]]:
    """Note an operation."""

    def note(prepare: Callable[[World], Action]) -> Callable[[World], Action]:
        OPERATIONS.append(Operation(name, prepare, **options))
        return prepare

    return note


def infer(session: Session) -> None:
    """Run an inference."""
    with session.inference():
        pass


def in_window(world: World, profile: str = "burst", **options: Any) -> Session:
    """Return a session that has run an inference."""
    session = world.session(profile, **options)
    infer(session)
    return session
