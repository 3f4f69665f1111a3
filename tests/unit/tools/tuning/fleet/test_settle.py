"""One sustain time for all devices, and the loss of each device."""

from __future__ import annotations

import math

import pytest
from support.fleets import answer

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.fleet.records import Cost, Question
from htppower.tools.tuning.fleet.settle import Aim, Candidate, fixed, settle

_B_US = 100_000
_QUESTION = Question(_B_US)
_LEARNT = Adaptive(_B_US)
# One device pauses for 30 ms and one for 200 ms; both sometimes pause for a minute.
_QUICK = answer("quick", [30_000] * 90 + [60_000_000] * 10)
_SLOW = answer("slow", [90_000] * 10 + [60_000_000] * 2)


def test_the_time_for_all_costs_least_over_all() -> None:
    """The chosen edge has the lowest total cost, and may not be the best for any device."""
    settled = settle([_QUICK, _SLOW], _QUESTION)
    assert settled.chosen == settled.fixed
    assert settled.chosen.sustain == 31_500
    own = {device.path: device.best.sustain for device in settled.devices}
    assert own == {"quick": 31_500, "slow": 0}
    every_edge_us = [sum(costs) for costs in zip(*(each.gaps.costs_us(_B_US) for each in (_QUICK, _SLOW)), strict=True)]
    assert settled.chosen.cost.cost_us == min(every_edge_us)


def test_every_device_is_told_what_it_loses() -> None:
    """The loss against a device's own best time is a share of its cost, and in us; the largest loss comes first."""
    settled = settle([_QUICK, _SLOW], _QUESTION)
    slow, quick = settled.devices
    assert (slow.path, slow.gaps, slow.best) == ("slow", 12, Candidate(0, Cost(12 * _B_US, 12)))
    assert slow.cost == Cost(12 * (31_500 + _B_US), 12)
    assert slow.loss_us == 12 * 31_500
    assert slow.loss == 0.315
    assert (quick.loss_us, quick.loss) == (0, 0.0)
    assert settled.own == Cost(slow.best.cost.cost_us + quick.best.cost.cost_us, 22)


def test_what_it_is_compared_with() -> None:
    """The costs are compared with the vendor's 300 ms, with lowering at once, and with perfect knowledge."""
    settled = settle([_QUICK, _SLOW], _QUESTION)
    assert settled.vendors == Candidate(300_000, Cost(90 * 30_000 + 10 * 90_000 + 12 * 400_000, 12))
    assert settled.at_once == Candidate(0, Cost(112 * _B_US, 112))
    assert settled.clairvoyant_us == 90 * 30_000 + 10 * 90_000 + 12 * _B_US
    assert settled.gaps == _QUICK.gaps + _SLOW.gaps


@pytest.mark.parametrize(("cost_us", "chosen"), [(1, _LEARNT), (10**12, 31_500)])
def test_a_learnt_time_is_chosen_where_it_costs_less(cost_us: int, chosen: object) -> None:
    """The learner's costs on all devices are added, and compared with the best fixed time."""
    answers = [answer("a", [30_000] * 9, learnt=[Cost(cost_us, 1)]), answer("b", [30_000], learnt=[Cost(3, 4)])]
    settled = settle(answers, Question(_B_US, (_LEARNT,)))
    assert settled.learnt == (Candidate(_LEARNT, Cost(cost_us + 3, 5)),)
    assert settled.chosen.sustain == chosen
    by_path = {device.path: device for device in settled.devices}
    if chosen is _LEARNT:
        assert by_path["b"].cost == Cost(3, 4)
        assert by_path["b"].loss_us == 3 - 30_000
        assert by_path["b"].loss < 0


def test_a_share_of_cold_starts_is_kept() -> None:
    """With a limit, the cheapest time within it is chosen, also for each device and among learnt times.

    The limit is a share of all inferences, including the first of each session.
    """
    gaps_us = [30_000] * 89 + [500_000] * 6 + [60_000_000] * 4
    answers, question = [answer("a", gaps_us, learnt=[Cost(1, 6)])], Question(_B_US, (_LEARNT,))
    settled = settle(answers, question, Aim(50_000))
    assert settled.keeps
    assert settled.chosen == fixed(settled.gaps, _B_US, 530_000)
    assert settled.chosen.cost.cold_starts == 4
    assert settled.devices[0].best == settled.chosen
    assert settle(answers, question, Aim(70_000)).chosen.sustain == _LEARNT
    assert settle(answers, question, Aim(69_999)).chosen.sustain == 530_000
    assert not settle(answers, question, Aim(9_999)).keeps


def test_where_no_time_keeps_to_the_share_the_fewest_cold_starts_win() -> None:
    """A gap longer than an hour always ends in a cold start: the cheapest time with no more cold starts is named."""
    settled = settle([answer("a", [5 * 10**9, 30_000])], _QUESTION, Aim(100_000))
    assert not settled.keeps
    assert settled.chosen.sustain == 31_500
    assert settled.chosen.cost.cold_starts == 1


def test_no_time_is_longer_than_asked_for() -> None:
    """The limit holds for all devices and for each one; a limit between two edges means the lower edge."""
    answers = [answer("a", [30_000] * 50 + [90_000] * 50)]
    assert settle(answers, _QUESTION).chosen.sustain == 95_000
    assert settle(answers, _QUESTION, Aim(most_us=95_000)).chosen.sustain == 95_000
    settled = settle(answers, _QUESTION, Aim(most_us=94_999))
    assert settled.chosen.sustain == settled.devices[0].best.sustain == 31_500
    assert settle(answers, _QUESTION, Aim(most_us=19_999)).chosen.sustain == 0


def test_no_time_is_shorter_than_a_timer_keeps() -> None:
    """For gaps of 5 ms the time is 20 ms: rule SUS-1 forbids times between 0 and that."""
    assert settle([answer("a", [5_000] * 9)], _QUESTION).chosen.sustain == 20_000


def test_devices_without_gaps_lose_nothing() -> None:
    """One inference makes no gap. If a device's best time costs nothing, its loss is infinite."""
    settled = settle(
        [answer("one", []), answer("none", [0, 0]), *[answer(f"{n}", [6 * 10**7] * 9) for n in range(9)]], _QUESTION
    )
    by_path = {device.path: device for device in settled.devices}
    assert settled.chosen.sustain == 0
    assert by_path["one"].loss == 0
    assert math.isinf(by_path["none"].loss)
    assert settled.devices[0].path == "none"


def test_only_an_edge_has_an_exact_cost() -> None:
    """A time between edges is refused, and not rounded."""
    with pytest.raises(ValueError, match="not in tuple"):
        fixed(_QUICK.gaps, _B_US, 30_001)


def test_a_margin_is_kept_from_the_gaps() -> None:
    """Among the edges that cost up to 1 % more, the edge with the largest margin is chosen, with its longest gap."""
    answers = [answer("a", [30_000] * 2_000 + [60_000_000] * 20)]
    least = settle(answers, _QUESTION)
    found = settle(answers, _QUESTION, Aim(within=0.01))
    assert (least.chosen.sustain, least.gap_us) == (31_500, None)
    assert found.gap_us == 31_500
    assert isinstance(found.chosen.sustain, int)
    assert found.chosen.sustain > 35_000
    assert found.chosen.cost.cost_us <= 1.01 * least.chosen.cost.cost_us


def test_a_share_of_cold_starts_is_kept_with_longer_gaps_too() -> None:
    """The time for all keeps the limit when all gaps are 10 % longer."""
    answers = [answer("a", [30_000] * 60 + [95_000] * 35 + [60_000_000] * 5)]
    found = settle(answers, Question(1_000), Aim(60_000, within=0.01))
    assert found.keeps
    assert isinstance(found.chosen.sustain, int)
    assert found.chosen.sustain > 1.1 * 95_000
    # A time at the upper limit is chosen without that margin.
    assert settle(answers, Question(1_000), Aim(60_000, 100_000, 0.01)).chosen.sustain == 100_000
