"""The slots of a pace: when an inference may begin, and by when it must end."""

from __future__ import annotations

from htppower.control.pace.slots import Slot, Slots

PERIOD = 100


def slots(*, waits: bool = True) -> Slots:
    """Return slots of 100 ns."""
    return Slots(PERIOD, waits=waits)


def test_an_early_inference_waits_for_the_next_slot() -> None:
    """The slots are a period apart; the host's own work is subtracted from what the inference may take."""
    made = slots()
    slot = made.next(1000, overlaps=False)
    assert slot == Slot(1000, 1000, None)
    assert not made.missed(slot, 1040)
    assert made.next(1050, overlaps=False) == Slot(1100, 1050, 90)


def test_an_inference_that_ends_with_its_slot_has_met_its_deadline() -> None:
    """The deadline is one period after the slot."""
    made = slots()
    slot = made.next(0, overlaps=False)
    assert (made.missed(slot, 100), made.missed(slot, 101)) == (False, True)


def test_after_an_overrun_the_next_inference_begins_late_in_its_own_slot() -> None:
    """It can be asked for only after its slot has begun, and still has the deadline of that slot."""
    made = slots()
    made.missed(made.next(0, overlaps=False), 130)
    late = made.next(135, overlaps=False)
    assert late == Slot(100, 135, 95)
    assert late.ready_ns == 135
    assert made.missed(late, 201)


def test_slots_that_are_over_are_skipped() -> None:
    """After an overrun of several periods, the inference gets the slot that has begun last."""
    made = slots()
    made.missed(made.next(0, overlaps=False), 530)
    assert made.next(535, overlaps=False).begin_ns == 500


def test_a_host_that_was_away_starts_anew() -> None:
    """If the host itself needs a period or longer, the next slot begins at once."""
    made = slots()
    made.missed(made.next(0, overlaps=False), 50)
    assert made.next(149, overlaps=False) == Slot(100, 149, 1)
    made.missed(made.next(149, overlaps=False), 210)
    assert made.next(310, overlaps=False) == Slot(310, 310, None)


def test_without_waiting_each_inference_has_a_slot_of_its_own() -> None:
    """A host that asks early or late, but has not overrun, has a period from then on."""
    made = slots(waits=False)
    made.missed(made.next(0, overlaps=False), 50)
    assert made.next(70, overlaps=False) == Slot(70, 70, 100)
    made.missed(Slot(70, 70, None), 150)
    assert made.next(200, overlaps=False) == Slot(200, 200, 130)


def test_without_waiting_an_overrun_still_delays_the_next_inference() -> None:
    """The next inference is asked for late because the last one has overrun its slot."""
    made = slots(waits=False)
    made.missed(made.next(0, overlaps=False), 130)
    assert made.next(130, overlaps=False) == Slot(100, 130, 100)


def test_inferences_at_the_same_time_do_not_delay_each_other() -> None:
    """Each has its slot, and none depends on the one before."""
    made = slots()
    first, second = made.next(0, overlaps=False), made.next(10, overlaps=True)
    assert (first.begin_ns, second) == (0, Slot(100, 10, None))


def test_slots_can_start_anew() -> None:
    """After that the next inference has its slot at once."""
    made = slots()
    made.missed(made.next(0, overlaps=False), 180)
    made.start_anew()
    assert made.next(190, overlaps=False) == Slot(190, 190, None)
