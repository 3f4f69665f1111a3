"""The zones of a thermal cap: which zones count, which can't be read, and what is logged about them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.hanging import WAIT_S, HangingHtp, join, started

from htppower import ThermalCap, VoteController
from htppower.control.caps.thermal_cap import ThermalStatus
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from support.bench import Bench
    from support.thermal_zones import Tree

PERIOD_US = 1_000_000


def test_the_hottest_zone_counts_and_is_named(bench: Bench, tree: Tree) -> None:
    """The hottest zone is named in the cap's reason and in status, with its temperature."""
    tree.zone(1, "nspss-0", "71340")
    with tree.cap(bench) as thermal:
        assert [cap.reason for cap in bench.controller.caps] == ["nspss-0 at 71.3 C, above 70 C"]
        assert thermal.cap is not None
        assert thermal.status() == ThermalStatus(0, "nspss-0", 71.34, (), capped=True)
    assert (len(bench.controller.caps), thermal.status().capped) == (0, False)


def test_status_waits_for_no_native_call(tree: Tree) -> None:
    """If the cap's native call hangs, status still returns: it has the new temperature, and the cap as not set yet."""
    time, htp = VirtualTime(), HangingHtp()
    controller = VoteController(htp, time=time, handle_sigterm=False)
    session = controller.session("burst")
    with session.inference():
        thermal = ThermalCap(controller, above_c=70, below_c=60, root=tree.root)
        tree.zone(1, "nspss-0", "71340")
        hang = htp.hang_next("setPowerConfig", session.power_config_ids[0])
        look = started(lambda: time.advance_us(PERIOD_US))
        assert hang.begun.wait(WAIT_S)
        seen = thermal.status()
        hang.let_go.set()
        join(*look)
        assert seen == ThermalStatus(PERIOD_US, "nspss-0", 71.34, (), capped=False)
        assert thermal.status().capped
    controller.close()


@pytest.mark.parametrize(
    ("zones", "capped"),
    [("*", True), ("cpu-*", True), (["nsp*", "cpu-0-?"], True), ("nsp*", False), (("nspss-0",), False)],
    ids=str,
)
def test_only_zones_that_match_count(bench: Bench, tree: Tree, zones: Any, capped: bool) -> None:
    """Zones are chosen by shell patterns that match their type."""
    tree.zone(0, "cpu-0-0", "90000")
    with tree.cap(bench, zones=zones):
        assert bool(bench.controller.caps) is capped


@pytest.mark.parametrize(
    "text",
    ["", "hot", "-274000", "2147483647", "4e4", "\x00"],
    ids=repr,
)
def test_a_zone_that_says_no_temperature_is_left_out(
    bench: Bench, tree: Tree, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A zone that can't be read is logged once, not every period; the other zones still count."""
    tree.zone(0, "cpu-0-0", text)
    with tree.cap(bench) as thermal:
        bench.time.advance_us(3 * PERIOD_US)
        assert thermal.status() == ThermalStatus(3 * PERIOD_US, "nspss-0", 41.5, ("cpu-0-0",), capped=False)
        tree.zone(1, "nspss-0", "80000")
        bench.time.advance_us(PERIOD_US)
        assert thermal.cap is not None
    assert [record.levelno for record in caplog.records if record.name == "htppower.thermal"] == [logging.WARNING]


@pytest.mark.parametrize("hot", [False, True])
def test_where_no_zone_can_be_read_the_cap_stays_as_it_is(
    bench: Bench, tree: Tree, hot: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """If no zone can be read, the cap stays as it is; status and one log record show this until the next reading."""
    files = [tree.zone(number, f"cpu-{number}", "80000" if hot else "40000") for number in range(2)]
    with tree.cap(bench) as thermal:
        for file in files:
            file.unlink()
        bench.time.advance_us(5 * PERIOD_US)
        assert thermal.status() == ThermalStatus(5 * PERIOD_US, None, None, ("cpu-0", "cpu-1"), capped=hot)
        (record,) = (record for record in caplog.records if record.levelno == logging.ERROR)
        assert f"balanced stays {'set' if hot else 'not set'}" in record.getMessage()
        tree.zone(0, "cpu-0", "40000" if hot else "80000")
        bench.time.advance_us(PERIOD_US)
        assert thermal.status().unread == ("cpu-1",)
        # The other zone was hot at its last reading.
        assert thermal.status().capped
        tree.zone(1, "cpu-1", "40000")
        bench.time.advance_us(PERIOD_US)
        assert thermal.status().capped is not hot


def test_a_zone_that_fails_again_is_logged_again(bench: Bench, tree: Tree, caplog: pytest.LogCaptureFixture) -> None:
    """A zone is logged again each time that it stops answering."""
    with tree.cap(bench):
        for text in ("x", "40000", "x"):
            tree.zone(0, "cpu-0-0", text)
            bench.time.advance_us(PERIOD_US)
    assert len([record for record in caplog.records if record.name == "htppower.thermal"]) == 2


@pytest.mark.parametrize("hot", [False, True])
def test_a_zone_that_does_not_answer_is_logged(
    bench: Bench, tree: Tree, hot: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If a reading takes longer than 10 s, a log record names the slow zone and says whether the cap stays set."""
    read_bytes = Path.read_bytes

    def slow(path: Path) -> bytes:
        # Other threads run during the read, and so do alarms.
        bench.time.advance_us(takes_us if path.parent.name == "thermal_zone1" else 0)
        return read_bytes(path)

    tree.zone(0, "cpu-0-0", "80000" if hot else "40000")
    with tree.cap(bench) as thermal:
        takes_us = 9_999_999
        monkeypatch.setattr(Path, "read_bytes", slow)
        bench.time.advance_us(PERIOD_US)
        assert caplog.messages == []
        takes_us = 10_000_000
        bench.time.advance_us(PERIOD_US)
        assert bench.time.alarms == 1
        assert thermal.status().capped is hot
    (said,) = caplog.messages
    assert f"zone nspss-0 ({tree.root / 'thermal_zone1'}) has not answered for 10 s: no other is read" in said
    assert said.endswith("the cap at balanced stays set" if hot else "the cap at balanced stays not set")


def test_zones_that_match_nothing_are_told_with_those_that_there_are(bench: Bench, tree: Tree, tmp_path: Path) -> None:
    """A misspelt zone name is an error that lists the existing zones: otherwise the cap would never be set."""
    with pytest.raises(ValueError, match=r"named skin\* or gpu; there are: cpu-0-0, nspss-0"):
        tree.cap(bench, zones=("skin*", "gpu"))
    with pytest.raises(ValueError, match="there are: none at all"):
        tree.cap(bench, root=tmp_path / "absent")
