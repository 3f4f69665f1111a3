"""Ten thousand open sessions against one: time per inference, and memory per session."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING

import attrs
from figures import Figure
from hot_path import quickest, time_inferences

from htppower import Session, VoteController, load_profile
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGER_THAN_THE_MEASUREMENT_US = 600_000_000


def _open(controller: VoteController, name: str, count: int, sustain_us: int | None = None) -> list[Session]:
    profile = load_profile(name)
    if sustain_us is not None:
        assert profile.relax is not None
        profile = attrs.evolve(profile, relax=attrs.evolve(profile.relax, after_inference_us=sustain_us))
    return [controller.session(profile) for _ in range(count)]


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the ratios of many sessions to one, and the memory of a session."""
    many, pairs = (500, 300) if smoke else (10_000, 600)
    with (
        VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as alone,
        VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as crowded,
    ):
        _open(crowded, "burst", many)
        for name, what, count in (
            ("burst", "inside a window", 500),
            ("high_performance", "isolated (raise and lower)", 20),
        ):
            (one,), (other,) = _open(alone, name, 1), _open(crowded, name, 1)
            time_inferences(one, 10)
            time_inferences(other, 10)
            _, _, ratio = quickest(
                lambda: time_inferences(other, count),  # noqa: B023 - used within this round
                lambda: time_inferences(one, count),  # noqa: B023
                pairs,
            )
            yield Figure(f"inference {what}, {many} sessions / 1", ratio, 1.1, "x")
    yield from _memory(many)


def _memory(many: int) -> Iterator[Figure]:
    # The simulated HTP stores the votes of every id, like the hardware; this is not memory of a session.
    simulated = SimulatedHtp(arch=75)
    with VoteController(simulated, handle_sigterm=False) as controller:
        _open(controller, "burst", 1)
        gc.collect()
        tracemalloc.start()
        sessions = _open(controller, "burst", many, _LONGER_THAN_THE_MEASUREMENT_US)
        gc.collect()
        opened = _measured()
        for session in sessions:
            time_inferences(session, 1)
        gc.collect()
        in_window = _measured()
        tracemalloc.stop()
    yield Figure("memory of a session, opened", opened / many / 1024, 2, "KiB", "without the simulated HTP's")
    yield Figure("memory of a session, in its window", in_window / many / 1024, 8, "KiB", "ledger and armed timer too")


def _measured() -> int:
    simulated = tracemalloc.Filter(inclusive=False, filename_pattern="*/htppower/backends/*")
    own = tracemalloc.Filter(inclusive=False, filename_pattern=tracemalloc.__file__)
    snapshot = tracemalloc.take_snapshot().filter_traces((simulated, own))
    return sum(statistic.size for statistic in snapshot.statistics("filename"))
