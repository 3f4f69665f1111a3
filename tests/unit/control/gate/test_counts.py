"""The counts of a gate: inferences that run, that have begun, and that have begun without a call."""

from __future__ import annotations

from support.gate_hosts import Host

from htppower.control.gate.counts import count_all, count_begun, count_inferences


def test_what_has_begun_without_waiting() -> None:
    """``count_begun`` leaves out each inference that waited for a call, running or ended; a token may be used again."""
    host = Host.make()
    waited, not_waited = host.begin(), host.begin()
    waited.waited = True
    assert count_begun(host.gate) == 1
    host.gate.end(waited)
    host.gate.end(not_waited)
    assert count_begun(host.gate) == 1
    again = [host.begin(), host.begin()]
    assert count_begun(host.gate) == 3
    again[0].waited = True
    host.gate.drop(again.pop(0))
    assert count_begun(host.gate) == 2
    assert not host.begin().waited


def test_all_counts_agree_with_each_count() -> None:
    """Whether inferences run or the session is idle, the counts of one moment are those that are taken one by one."""
    host, running = Host.make(), []
    for step in range(6):
        if step % 3 < 2:
            running.append(host.begin())
            running[-1].waited = step == 1
        else:
            while running:
                host.gate.end(running.pop())
        in_flight, begun, _, inferences = count_all(host.gate)
        assert (in_flight, begun, inferences) == (len(running), count_begun(host.gate), count_inferences(host.gate))
    assert (begun, inferences) == (3, 4)
