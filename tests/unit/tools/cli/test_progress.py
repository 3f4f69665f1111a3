"""The line that shows the progress of a command."""

from __future__ import annotations

import pytest

from htppower.tools.cli.progress import Progress, shown_progress, size_of


@pytest.mark.parametrize("width", [79, 39, 30, 20])
def test_the_line_fits_and_keeps_its_end(width: int) -> None:
    """A long name is shortened in the middle; the numbers stay."""
    progress = Progress()
    progress.begin("reading /srv/traces/of/many/devices/in/a/long/folder/device.json", 1_000)
    progress.add(250)
    progress.add(170)
    line = progress.line(12.4, width)
    assert len(line) <= width
    assert line.endswith(": 42%, 12 s")
    assert line.startswith("rea")


def test_shares_and_counts() -> None:
    """The line has a percentage if the total is known, and a unit after a count; it omits unknown numbers."""
    progress = Progress()
    progress.begin("tuning", 1.0)
    progress.at(0.5)
    assert progress.line(3, 80) == "tuning: 50%, 3 s"
    progress.at(1.2)
    assert progress.line(3, 80) == "tuning: 100%, 3 s"
    progress.begin("reading traces", 40, "files")
    progress.add(7)
    assert progress.line(3, 80) == "reading traces: 7 of 40 files, 3 s"
    progress.begin("linting", unit="files")
    assert progress.line(3, 80) == "linting: 3 s"
    progress.done_of(3, 9)
    assert progress.line(3, 80) == "linting: 3 of 9 files, 3 s"


def test_a_name_can_not_act_on_the_terminal() -> None:
    """A character that can't be printed is escaped."""
    progress = Progress()
    progress.begin("reading \x1b[31m\r\n.csv")
    assert progress.line(1, 80).isprintable()


def test_nothing_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal, not even a thread is started."""
    with shown_progress() as progress:
        progress.begin("reading")
    assert capsys.readouterr() == ("", "")


def test_a_size_that_is_not_known() -> None:
    """The standard input has no size, and a device has none either."""
    assert size_of("-") is size_of("/dev/null") is size_of("a\0b") is None
