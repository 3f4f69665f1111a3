"""``htppower status --watch`` on a terminal: its table, its keys, and small terminals."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from support.bench import Bench
from support.inside import patch_private
from support.status_files import serve_below

from htppower.tools.cli.status.command import Overview, Watch
from htppower.tools.cli.status.document import read_status
from htppower.tools.cli.status.screen import Screen
from htppower.tools.cli.status.table import COLUMNS
from htppower.tools.report.layout import shown_width

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

S = 1_000_000


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Yield a controller with three sessions that serves its status in its own runtime folder."""
    folder = serve_below(tmp_path / "run", monkeypatch)
    monkeypatch.setattr("htppower.tools.cli.status.served.runtime_folders", lambda: (folder,))
    made = Bench.make()
    owners = ("alpha", "beta", "gamma with a name that is long")
    kept = [made.controller.session("burst", owner=owner) for owner in owners]
    with made.controller.cap("balanced", reason="battery at 12 %"):
        yield made
    del kept
    made.controller.close()


def sized(monkeypatch: pytest.MonkeyPatch, columns: int, lines: int) -> None:
    """Give the terminal a size."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(lines))


def drawn(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines drawn last, without cursor movements."""
    return re.sub(r"\x1b\[[?0-9]*[A-Za-z]", "", capsys.readouterr().out.rpartition("\x1b[H")[2]).split("\n")


@pytest.mark.parametrize(("columns", "lines"), [(40, 12), (80, 24), (200, 50), (41, 5)])
def test_it_fits_the_terminal(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int, lines: int
) -> None:
    """Neither the table nor one status is wider or higher than the terminal, however small it is."""
    sized(monkeypatch, columns, lines)
    file = bench.controller.serve_status().path
    table = Overview("text", terminal=True)
    table.look(0)
    rows = drawn(capsys)
    assert rows[0].startswith("PID*")
    Watch(file, read_status(file), "text", terminal=True).look(0)
    for shown in (rows, drawn(capsys)):
        assert len(shown) <= lines
        assert max(map(shown_width, shown)) <= columns


def test_scrolling(bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key moves by its distance, but not past the end."""
    sized(monkeypatch, 40, 12)
    bench.controller.serve_status()
    screen = Screen()
    screen.has_keys = True

    def first(keys: str) -> str:
        patch_private(monkeypatch, screen, pressed=lambda _timeout_s: re.findall(r"\x1b\[\d?.|.", keys))
        list(screen.keys(0))
        screen.show(["head"], [str(number) for number in range(30)], ("q quit",))
        lines = drawn(capsys)
        assert lines[0] == "head"
        assert lines[-1] == f"{int(lines[1]) + 1}-{int(lines[1]) + 10} of 30  q quit"
        return lines[1]

    moves = ["", "\x1b[B", "j", "\x1b[A", "\x1b[6~", " ", "G", "\x1b[B", "\x1b[5~", "\x1b[H", "\x1b[A"]
    assert [first(keys) for keys in moves] == ["0", "1", "2", "1", "10", "19", "20", "20", "11", "0", "0"]


def test_sorting(bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """S and > sort by the next column, < by the previous one. The heading has a star; every column can be chosen."""
    sized(monkeypatch, 120, 40)
    bench.controller.serve_status()
    table = Overview("text", terminal=True)
    starred = []
    for key in ("", *["s"] * len(COLUMNS), "<", ">"):
        table.press(key)
        table.look(0)
        starred += re.findall(r"(\S+)\*", drawn(capsys)[0])
    titles = [column.title for column in COLUMNS]
    assert starred == [*titles, titles[0], titles[-1], titles[0]]


def test_the_busiest_comes_first(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorted by rate, a working session is above the idle ones, with the share that waited."""
    sized(monkeypatch, 120, 40)
    beta = bench.controller.session("burst", owner="delta")
    bench.controller.serve_status()
    table = Overview("text", terminal=True)
    table.look(0)
    for _ in range(30):
        bench.infer(beta, S // 10)
    table.look(1)
    for _ in range([column.title for column in COLUMNS].index("INF/S")):
        table.press("s")
    table.look(2)
    rows = [line for line in drawn(capsys) if line.startswith(str(os.getpid()))]
    assert "delta" in rows[0]
    assert re.search(r" 10\.0 +100% +0 ms", rows[0]), rows[0]
    assert all(re.search(r" 0\.0 +- ", row) for row in rows[1:])


def test_the_table_says_why(bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beneath each row is the profile with the reason for the state, and since when."""
    sized(monkeypatch, 120, 40)
    bench.controller.serve_status()
    Overview("text", terminal=True).look(0)
    assert any(
        re.search(r"balanced \(capped from burst: battery at 12 %\); since \d\d:", line) for line in drawn(capsys)
    )


def test_a_controller_without_a_session_has_a_row(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host may serve its status before its first session."""
    folder = serve_below(tmp_path / "run", monkeypatch)
    monkeypatch.setattr("htppower.tools.cli.status.served.runtime_folders", lambda: (folder,))
    sized(monkeypatch, 80, 24)
    host = Bench.make()
    with host.controller, host.controller.serve_status():
        Overview("text", terminal=True).look(0)
    assert any("no session" in line for line in capsys.readouterr().out.split("\n"))
