"""Runs the steps of a calibration on a device, and makes the resulting model."""

from __future__ import annotations

import contextlib
import datetime
import time as system_time
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
    from htppower.control.session import Session
    from htppower.control.time.base import Time
    from htppower.tools.tuning.models.calibration.fit import StatePower
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
        powers: the power of each state, if there is a meter.
        notes: what was not measured, and why.
    """

    model: DeviceModel
    found: Found
    powers: tuple[StatePower, ...]
    notes: tuple[str, ...]


@contextlib.contextmanager
def opened_bench(
    backend: Backend,
    settings: Settings,
    *,
    clock: Time,
    wait_us: Callable[[int], None] | None = None,
    date: str | None = None,
    make_inference: MakeInference | None = None,
    meter: Meter | None = None,
) -> Iterator[Bench]:
    """Yield the tools to measure a device with. At the end, even after a failure, the votes are given back.

    The backend is left open. Without ``wait_us`` the thread sleeps, and without a date it is today, by UTC; everything
    else is as in ``Bench``. ``make_inference`` makes what runs an inference, within INIT of the session.

    Raises:
        VoteRejected: a call failed.
        CalibrationFailed: the inference or the profile can't be used.
    """
    calls = TimedCalls(backend, clock)
    date = date or datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    with VoteController(calls, time=clock, on_error="raise", heartbeat_us=0) as controller:
        session = controller.session(
            variant(settings.profile),
            device_id=settings.device_id,
            core_ids=(settings.core_id,),
            owner="htppower calibrate",
        )
        with _inference(make_inference, session) as infer:
            yield Bench(session, calls, clock, wait_us or _sleep_us, infer, meter, settings, date)


def calibrate(bench: Bench, base: DeviceModel, tell: Callable[[Step], object] = lambda _step: None) -> Calibration:
    """Measure the values of a model on a device.

    Args:
        bench: the tools to measure with.
        base: the model whose values are kept unless they are measured.
        tell: is called with each step before it is run.

    Raises:
        VoteRejected: a call failed.
        CalibrationFailed: the inference or the power rail can't be used.
        PowerRefused: the readings of the meter do not prove the powers.
    """
    infers, metered = bench.infer is not None, bench.meter is not None
    found: Found = {}
    for step in plan(bench.settings, base, infers=infers, metered=metered):
        tell(step)
        found.update(step.run(bench))
    notes = (
        (
            not bench.calls.describe().hardware,
            "there is no hardware behind this backend: these times are not those of a device",
        ),
        (not infers, "no inference was run: give one to measure delays, polling and speeds"),
        (
            infers and "polling_saves_us" not in found,
            "this platform has no RPC polling: its savings were not measured",
        ),
        (not metered, "no power was read: name a meter"),
    )
    said = tuple(note for holds, note in notes if holds)
    return Calibration(with_found(base, found), found, tuple(bench.powers), said)


def _sleep_us(duration_us: int) -> None:
    system_time.sleep(duration_us / 1_000_000)


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
