"""``--fleet``: the options, the written files, and the refusals."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
import pytest
from support.fleets import write_fleet

from htppower import load_profile
from htppower.errors import HtpPowerError
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive
from htppower.tools.cli.tune_fleet import fleet_options, tune_fleet
from htppower.tools.tuning.fleet.settle import Aim
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.review.tuning.fleet_report import FleetReport
    from htppower.tools.tuning.traces.trace import Trace

DASK = pytest.mark.needs("dask")

_FILES = 6


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Return the folder of a fleet."""
    write_fleet(tmp_path / "traces", _FILES, 30)
    return tmp_path / "traces"


def tuned(folder: Path, **options: object) -> FleetReport:
    """Return the best times for a fleet at a break-even time of 100 ms."""
    return tune_fleet(folder, extends="burst", break_even_us=100_000, **options)  # type: ignore[arg-type]


def test_the_profile_is_written_and_what_was_read_is_kept(traces: Path) -> None:
    """Both files may be in the folder of the traces: the next run skips them, and reads no trace again."""
    report = tuned(traces, profile=traces / "fleet.yaml")
    assert (len(report.fleet.answers), report.fleet.kept, report.fleet.unread) == (_FILES, 0, ())
    assert (traces / "fleet.yaml").read_text(encoding="utf-8").startswith(report.as_profile("fleet"))
    again = tuned(traces, profile=traces / "fleet.yaml")
    assert (len(again.fleet.answers), again.fleet.kept, again.fleet.unread) == (_FILES, _FILES, ())
    assert again.settled == report.settled


def test_nothing_is_written_without_a_profile(traces: Path) -> None:
    """A run without --profile writes no file."""
    tuned(traces)
    assert len(list(traces.iterdir())) == _FILES


def test_what_is_learnt_goes_by_what_is_asked(traces: Path) -> None:
    """A learner uses the break-even time; a limit adds a learner for that share of cold starts."""
    assert tuned(traces).question.learnt == (Adaptive(100_000),)
    report = tuned(traces, aim=Aim(50_000))
    assert report.question.learnt == (Adaptive(100_000), Adaptive(cold_starts_ppm=50_000, most_us=LONGEST_SUSTAIN_US))
    assert report.aim == Aim(50_000)


@pytest.mark.parametrize("name", ["fleet", "fleet.txt", "a b.yaml", ".yaml"])
def test_a_file_that_is_no_profile_is_refused(traces: Path, name: str) -> None:
    """Its name is that of the profile; nothing is read before that is said."""
    with pytest.raises(click.UsageError, match="is not a file name of a profile; use one such as"):
        tuned(traces, profile=traces / name)


def test_jobs_and_a_scheduler_do_not_go_together(traces: Path) -> None:
    """--jobs means this machine, and --scheduler a cluster."""
    with pytest.raises(click.UsageError, match="leave one out"):
        tuned(traces, jobs=2, scheduler="tcp://127.0.0.1:1")


def test_a_scheduler_needs_dask(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only --scheduler needs Dask, and the error says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert len(tuned(traces, jobs=2).fleet.answers) == _FILES
    with pytest.raises(click.UsageError, match="--scheduler needs Dask: pip install"):
        tuned(traces, scheduler="tcp://127.0.0.1:1")


def test_no_file_that_can_be_read_is_an_error(tmp_path: Path) -> None:
    """A folder without any file is an error too."""
    with pytest.raises(HtpPowerError, match="the folder has no file"):
        tuned(tmp_path)
    (tmp_path / "a").write_text("nothing", encoding="utf-8")
    with pytest.raises(HtpPowerError, match="none of 1 files can be read"):
        tuned(tmp_path)


def test_a_run_that_is_interrupted_says_where_it_goes_on(
    traces: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the file to continue from, and Ctrl-C is raised again."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("htppower.tools.tuning.fleet.fleet.read_fleet", stop)
    with pytest.raises(KeyboardInterrupt):
        tuned(traces, profile=traces / "fleet.yaml")
    assert "fleet.gaps.jsonl: the same command continues from there" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        tuned(traces)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tls_ca": "ca.pem"}, "are for a --scheduler"),
        pytest.param({"tls_ca": "ca.pem", "scheduler": "tls://127.0.0.1:1"}, "TLS needs all of", marks=DASK),
        pytest.param({"scheduler": "tls://127.0.0.1:1"}, "TLS needs all of", marks=DASK),
    ],
)
def test_tls_needs_a_scheduler_and_three_files(traces: Path, options: dict[str, str], said: str) -> None:
    """A missing option is an error before any file is read or any connection is made."""
    with pytest.raises(click.UsageError, match=said):
        tuned(traces, **options)


@pytest.mark.needs("signals")
def test_a_file_that_takes_too_long_is_named(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other files are read, also after the slow one."""
    slow = sorted(traces.iterdir())[2]

    def read(path: str, **options: Any) -> Trace:
        while path == str(slow):
            pass
        return read_trace(path, **options)

    monkeypatch.setattr("htppower.tools.tuning.fleet.reading.read_trace", read)
    report = tuned(traces, file_timeout_us=200_000)
    assert len(report.fleet.answers) == _FILES - 1
    (unread,) = report.fleet.unread
    assert unread.why == f"{slow}: takes longer than 0.2 s; --file-timeout gives each file more time"


def test_the_options_give_the_arguments(traces: Path) -> None:
    """The options become the arguments of ``tune_fleet``."""
    seen: dict[str, object] = {}

    @click.command()
    @fleet_options
    def command(**options: object) -> None:
        seen.update(options)

    others = {"file_timeout_us": 300_000_000, "tls_ca": None, "tls_cert": None, "tls_key": None}
    command.main(["--fleet", str(traces)], standalone_mode=False)
    assert seen == {"fleet": traces, "pattern": "*", "jobs": 1, "scheduler": None, **others}
    more = ["--files", "*.csv", "--jobs", "3", "--scheduler", "tcp://a:1"]
    command.main(["--fleet", str(traces), *more], standalone_mode=False)
    assert seen == {"fleet": traces, "pattern": "*.csv", "jobs": 3, "scheduler": "tcp://a:1", **others}
    with pytest.raises(click.BadParameter, match="not in the range 1 to 1024"):
        command.main(["--jobs", "0"], standalone_mode=False)


def test_the_profile_that_is_written_is_sound(traces: Path) -> None:
    """A chosen fixed time is within the longest sustain time."""
    report = tuned(traces, profile=traces / "fleet.yaml", aim=Aim(40_000))
    assert isinstance(report.settled.chosen.sustain, int)
    profile = load_profile(traces / "fleet.yaml")
    assert profile.relax is not None
    assert profile.relax.after_inference_us == report.settled.chosen.sustain <= LONGEST_SUSTAIN_US
