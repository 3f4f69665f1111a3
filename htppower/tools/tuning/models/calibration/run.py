"""Runs the steps of a calibration on a device, and makes the resulting model."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import attrs

from htppower.control.controller import VoteController
from htppower.errors import printable
from htppower.tools.tuning.models.calibration.bench import Bench, TimedCalls, variant
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed
from htppower.tools.tuning.models.calibration.steps import plan
from htppower.tools.tuning.models.model import Wake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from htppower.backends.base import Backend
    from htppower.backends.clock import Clock
    from htppower.control.session import Session
    from htppower.control.time.base import Time
    from htppower.tools.tuning.models.calibration.meter import Meter
    from htppower.tools.tuning.models.calibration.settings import Settings
    from htppower.tools.tuning.models.calibration.steps import Found, Step
    from htppower.tools.tuning.models.model import DeviceModel

    # Makes a function that runs one inference, for a session that votes.
    MakeInference = Callable[[Session], AbstractContextManager[Callable[[], object]]]


@attrs.frozen(repr=False, eq=False)
class Calibration:
    """The result of a calibration.

    Attributes:
        model: the base model with the measured values.
        found: the measured values, by the names of ``DeviceModel.quantities``.
        notes: what was not measured, and why.
    """

    model: DeviceModel
    found: Found
    notes: tuple[str, ...]


def calibrate(
    backend: Backend,
    base: DeviceModel,
    settings: Settings,
    *,
    clock: Clock,
    wait_us: Callable[[int], None],
    date: str,
    make_inference: MakeInference | None = None,
    meter: Meter | None = None,
    time: Time | None = None,
    tell: Callable[[Step], object] = lambda _step: None,
) -> Calibration:
    """Measure the values of a model on a device. The votes are given back, even if the calibration fails.

    Args:
        backend: receives the votes; it is left open.
        base: the model whose values are kept unless they are measured.
        settings: how often and how long to measure.
        clock: the clock for all measurements.
        wait_us: idles for a time, in us.
        date: the date of the calibration, for the model.
        make_inference: makes a function that runs an inference, within INIT of the session; None if there is no
            inference.
        meter: a power rail; None measures no power.
        time: the time of the controller; None is the system's time.
        tell: is called with each step before it is run.

    Raises:
        VoteRejected: a call failed.
        CalibrationFailed: the inference, the power rail or the profile can't be used.
    """
    calls = TimedCalls(backend, clock)
    description = backend.describe()
    where = f"{printable(description.library)}, {date}"
    found: Found = {}
    with VoteController(calls, time=time, on_error="raise", heartbeat_us=0) as controller:
        session = controller.session(
            variant(settings.profile),
            device_id=settings.device_id,
            core_ids=(settings.core_id,),
            owner="htppower calibrate",
        )
        with _inference(make_inference, session) as infer:
            bench = Bench(session, calls, clock, wait_us, infer, meter, settings, where)
            for step in plan(settings, base, infers=infer is not None, metered=meter is not None):
                tell(step)
                found.update(step.run(bench))
    notes = (
        (not description.hardware, "there is no hardware behind this backend: these times are not those of a device"),
        (make_inference is None, "no inference was run: give one to measure delays, polling and speeds"),
        (
            make_inference is not None and "polling_saves_us" not in found,
            "this platform has no RPC polling: its savings were not measured",
        ),
        (meter is None, "no power was read: give a file or a command that reads it"),
    )
    return Calibration(with_found(base, found), found, tuple(note for holds, note in notes if holds))


@contextlib.contextmanager
def _inference(make: MakeInference | None, session: Session) -> Iterator[Callable[[], object] | None]:
    """Make the inference, if there is any. Its errors are raised as ``CalibrationFailed``."""
    if make is None:
        yield None
        return
    with make(session) as infer:

        def guarded() -> None:
            try:
                infer()
            except Exception as error:
                said = f"{type(error).__name__}: {printable(str(error))}"
                raise CalibrationFailed(f"the inference failed: {said}") from error

        yield guarded


def with_found(base: DeviceModel, found: Found) -> DeviceModel:
    """Return a model with the measured values; a sleep latency that the model lacks is added."""
    model, known = base, base.quantities()
    for name, quantity in found.items():
        of, _, item = name.partition(".")
        if name in known:
            model = model.with_quantity(name, quantity)
        elif of == "wakes":
            wakes = (*model.wakes, Wake(int(item), quantity))
            model = attrs.evolve(model, wakes=tuple(sorted(wakes, key=lambda wake: wake.sleep_latency_us)))
        else:
            raise KeyError(name)
    return model
