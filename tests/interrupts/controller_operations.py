"""Operations of controllers, their status, their subscribers, and recordings."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from interrupts.operations import SECOND_US, Action, in_window, infer, operation

from htppower import ThermalCap, VoteController
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interrupts.world import World

    from htppower import Session
    from htppower.events import Event


@operation("close a controller")
def _close(world: World) -> Action:
    in_window(world)
    in_window(world, "balanced", core_ids=(0, 1))
    world.session()
    return world.controller.close


@operation("close a controller with a timeout, with a session in use")
def _close_timeout(world: World) -> Action:
    world.in_use()
    in_window(world)
    return functools.partial(world.controller.close, timeout_s=5.0)


@operation("with a controller of its own")
def _with_controller(world: World) -> Action:
    def act() -> None:
        with VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False) as made:
            infer(made.session("burst"))

    return act


@operation("the status")
def _status(world: World) -> Action:
    world.in_use()
    in_window(world)
    return world.controller.status


# In real time a thread of its own writes it, and a TimeoutError is a failure to write.
@operation("a file of the status", any_kind=False)
def _status_file(world: World) -> Action:
    session = world.in_use()
    folder = tempfile.TemporaryDirectory()
    world.finally_.append(folder.cleanup)

    def act() -> None:
        with world.controller.serve_status(Path(folder.name) / "status.json"):
            infer(session)

    return act


@operation("a subscriber that uses the session")
def _subscriber(world: World) -> Action:
    session = world.session("high_performance")
    seen: list[Event] = []

    def note(event: Event) -> None:
        seen.append(event)

    def act() -> None:
        end = world.controller.subscribe(note)
        infer(session)
        end()

    return act


def _hot_zone(world: World) -> tuple[str, Path]:
    """Return a folder with a thermal zone at 80 C, and the file of its temperature."""
    folder = tempfile.TemporaryDirectory()
    zone = Path(folder.name) / "thermal_zone0"
    zone.mkdir()
    (zone / "type").write_text("npu\n", encoding="ascii")
    temperature = zone / "temp"
    temperature.write_text("80000\n", encoding="ascii")
    world.finally_.append(folder.cleanup)
    return folder.name, temperature


@operation("a thermal cap that is set and lifted")
def _thermal(world: World) -> Action:
    world.in_use()
    root, temperature = _hot_zone(world)

    def act() -> None:
        with ThermalCap(world.controller, above_c=70, below_c=60, root=root):
            world.time.advance_us(SECOND_US)
            temperature.write_text("40000\n", encoding="ascii")
            world.time.advance_us(SECOND_US)

    return act


@operation("a thermal cap that is closed while it is set", begun_after=("close",))
def _closed_thermal(world: World) -> Action:
    world.in_use()
    root, _ = _hot_zone(world)
    return ThermalCap(world.controller, above_c=70, below_c=60, root=root).close


def _infer_later(world: World, session: Session) -> None:
    """Run an inference at a time of its own, by which the recording knows it again."""
    world.time.advance_us(1)
    infer(session)


def _recorded(world: World) -> Path:
    """Return where to record; in the end each inference is in a file once, or told as lost, and each line is whole."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "trace.json"

    def check() -> None:
        writer = world.controller._recorder._recording
        if writer is not None:
            writer.close()
        events = [json.loads(line[:-1]) for file in folder_files() for line in file.read_text().splitlines()[1:]]
        begins = [event["ts"] for event in events if event["name"] == "inference"]
        lost = sum(event["args"]["inferences"] for event in events if event["name"] == "lost")
        if len(set(begins)) != len(begins):
            raise AssertionError(f"an inference is written twice: {begins}")
        if writer is not None and len(begins) + lost != writer._ring.number():
            raise AssertionError(f"{len(begins)} inferences are written and {lost} told as lost")

    def folder_files() -> Iterator[Path]:
        return Path(folder.name).iterdir()

    world.finally_ += [folder.cleanup, check]
    return path


@operation("a recording")
def _recording(world: World) -> Action:
    session, path = in_window(world), _recorded(world)

    def act() -> None:
        with world.controller.record(path):
            _infer_later(world, session)

    return act


@operation("an inference that is recorded, and its writing in a new file")
def _recorded_inference(world: World) -> Action:
    session = in_window(world, owner="x" * 3_000)
    world.controller.record(_recorded(world), most_bytes=4096, files=4)
    _infer_later(world, session)

    def act() -> None:
        _infer_later(world, session)
        world.time.advance_us(SECOND_US)

    return act


@operation("open a session that is recorded, and close the controller")
def _recorded_session(world: World) -> Action:
    world.controller.record(_recorded(world))

    def act() -> None:
        with world.controller.session("burst") as session:
            _infer_later(world, session)
        world.controller.close()

    return act
