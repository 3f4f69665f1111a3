"""``htppower profile`` on the device, and ``htppower doctor``, as processes on the stand-in library."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.live import EITHER, command, finish, raised, until
from support.standin import ALWAYS, functions

if TYPE_CHECKING:
    from pathlib import Path

    from support.standin import Standin

FREED = ["destroyPowerConfigId", "deviceFree", "backendFree", "logFree"]


def assert_lowered_and_destroyed(standin: Standin) -> None:
    """Assert that the votes were lowered and the ids destroyed."""
    assert standin.sets[-1].core_target == 64
    assert functions(standin.trace)[-4:] == FREED
    standin.assert_nothing_left()


@EITHER
def test_a_command_runs_under_the_profile(standin: Standin, htppower: list[str]) -> None:
    """The command starts when the votes are in force, with its own output and exit code; then the votes are lowered."""
    script = "import pathlib, sys; print(pathlib.Path(sys.argv[1]).read_text(), end=''); sys.exit(7)"
    words = [sys.executable, "-c", script, str(standin.trace_path)]
    code, output, _ = finish(command(standin, "profile", "burst", "--", *words, htppower=htppower))
    assert code == 7
    # The command saw the trace up to the raise.
    assert [line.split()[1] for line in output.splitlines()][-2:] == ["createPowerConfigId", "setPowerConfig"]
    assert output.splitlines()[-1].split()[0] == str(standin.sets[0].time_ns)
    assert [line.core_target for line in standin.sets] == [160, 64]
    # RPC settings act on the process that sends them, which runs no inference.
    assert not any(line.option(number) for line in standin.sets for number in (2, 3, 6))
    assert_lowered_and_destroyed(standin)


PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGALRM")


@pytest.mark.needs("signals")
@EITHER
@pytest.mark.parametrize("last", ["SIGINT", "SIGTERM"])
def test_signals_are_passed_on(standin: Standin, last: str, htppower: list[str]) -> None:
    """A signal to this process reaches the command and ends nothing else; at the end the votes are lowered."""
    numbers = [int(getattr(signal, name)) for name in sorted(PASSED_ON, key=lambda name: name == last)]
    script = (
        "import os, signal, sys, time\n"
        "def told(number, _):\n"
        # The handler must not print while 'ready' is printed: print can't be entered twice.
        "    os.write(1, b'%d\\n' % number)\n"
        f"    number == {numbers[-1]} and sys.exit(42)\n"
        f"for number in {numbers}: signal.signal(number, told)\n"
        "print('ready', flush=True)\n"
        # Short sleeps: a signal just before a sleep is handled after it.
        "for _ in range(3000): time.sleep(0.01)\n"
    )
    process = command(standin, "profile", "burst", "--", sys.executable, "-c", script, htppower=htppower)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    for number in numbers:
        assert [line.core_target for line in standin.sets] == [160]
        process.send_signal(number)
        assert process.stdout.readline() == f"{number}\n"
    code, _, _ = finish(process)
    assert code == 42
    assert_lowered_and_destroyed(standin)


@pytest.mark.needs("signals")
def test_a_command_that_dies_of_a_signal(standin: Standin) -> None:
    """The exit code is 128 plus the signal's number, as in a shell."""
    script = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    code, _, _ = finish(command(standin, "profile", "burst", "--", sys.executable, "-c", script))
    assert code == 128 + signal.SIGKILL
    assert_lowered_and_destroyed(standin)


@pytest.mark.needs("signals")
def test_a_command_has_the_signals_of_a_shell(standin: Standin) -> None:
    """The command blocks and ignores no signal, not even SIGPIPE, which Python ignores."""
    _, output, _ = finish(command(standin, "profile", "burst", "--", "cat", "/proc/self/status"))
    blocked, ignored = (
        int(line.split()[1], 16) for line in output.splitlines() if line.startswith(("SigBlk", "SigIgn"))
    )
    assert blocked == 0
    assert ignored & 1 << (signal.SIGPIPE - 1) == 0


@pytest.mark.needs("signals")
@EITHER
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 0), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_without_a_command_a_signal_ends_it(standin: Standin, name: str, code: int, htppower: list[str]) -> None:
    """Ctrl-C ends it with 0; another signal ends it as it would any process; both lower the votes."""
    process = command(standin, "profile", "burst", htppower=htppower)
    until(lambda: raised(standin))
    process.send_signal(getattr(signal, name))
    given, output, errors = finish(process)
    assert (given, output) == (code, "")
    assert "burst until Ctrl-C" in errors
    assert_lowered_and_destroyed(standin)


@EITHER
def test_for_some_seconds(standin: Standin, htppower: list[str]) -> None:
    """--for counts from the raise, and then lowers the votes, whatever the sustain time."""
    standin.script("createPowerConfigId 1 1 0 500000")
    code, output, _ = finish(command(standin, "profile", "burst", "--for", "0.3s", htppower=htppower))
    assert (code, output) == (0, "")
    up, down = standin.sets
    assert down.time_ns - up.time_ns >= 300_000_000
    assert_lowered_and_destroyed(standin)


@pytest.mark.parametrize(("words", "code"), [(["no-such-command"], 127), (["/etc/passwd"], 126), ([""], 127)])
def test_a_command_that_can_not_be_run(standin: Standin, words: list[str], code: int) -> None:
    """A missing command is 127, one that can't be executed 126, as in a shell; no vote is left."""
    given, output, errors = finish(command(standin, "profile", "burst", "--", *words))
    assert (given, output) == (code, "")
    assert f"can't run {words[0] or repr('')}: " in errors
    assert_lowered_and_destroyed(standin)


def test_a_vote_that_fails_runs_no_command(standin: Standin, tmp_path: Path) -> None:
    """If the profile can't be raised, the command is not run, and the exit code is 2."""
    standin.script(f"setPowerConfig 1 {ALWAYS} 13006 0")
    ran = tmp_path / "ran"
    code, _, errors = finish(command(standin, "profile", "burst", "--", "touch", str(ran)))
    assert code == 2
    assert "setPowerConfig on power config id" in errors
    assert "returned 13006" in errors
    assert not ran.exists()
    assert functions(standin.trace)[-4:] == FREED


_HOLD = """
import sys
from htppower import load_profile
from htppower.backends import QnnHtp
from htppower.tools.cli.profile.hold import Holding, hold
from htppower.tools.cli.terminal import kept_off_stdout
wait = (sys.executable, "-c", "print('ready', flush=True); input()")
with kept_off_stdout() as stdout:
    sys.exit(hold(Holding(load_profile("burst"), 0, (0,), wait, None, revote_s=0.05), QnnHtp, stdout))
"""


def test_a_restart_while_the_command_runs(standin: Standin) -> None:
    """Votes are repeated from time to time, so that a restart is noticed, reported and recovered from."""
    environment = {**os.environ, **standin.environment, "HTPPOWER_QNN_LIBRARY": str(standin.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    standin.script("setPowerConfig 1 1 1007 0")
    until(lambda: 1007 in [line.code for line in standin.sets])
    until(lambda: standin.sets[-1].code == 0 and raised(standin))
    process.stdin.write("\n")  # type: ignore[union-attr]
    code, _, errors = finish(process)
    assert code == 0
    assert errors.index("the votes are unknown") < errors.index("voted again")
    assert_lowered_and_destroyed(standin)


_COUNTED = """
import select, signal, sys, threading, time
signal.__dict__.pop("sigtimedwait", None)
waits, wait = [], select.select
select.select = lambda *arguments: waits.append(arguments) or wait(*arguments)
from htppower import load_profile
from htppower.backends import SimulatedHtp
from htppower.tools.cli.profile.hold import Holding, hold
if len(sys.argv) == 1:
    threading.Timer(1, signal.raise_signal, [getattr(signal, "SIGBREAK", signal.SIGTERM)]).start()
begun_s = time.monotonic()
code = hold(Holding(load_profile("burst"), 0, (0,), tuple(sys.argv[1:]), None), SimulatedHtp, None)
print(code, len(waits), time.monotonic() - begun_s)
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [((sys.executable, "-c", "import time; time.sleep(1); exit(5)"), 5), ((), 128 + getattr(signal, "SIGBREAK", 15))],
    ids=["a command", "a signal"],
)
def test_without_sigtimedwait_only_what_happens_ends_the_wait(words: tuple[str, ...], code: int) -> None:
    """While the profile is up, nothing wakes the process but the end of the command, and a signal of any thread."""
    done = subprocess.run([sys.executable, "-c", _COUNTED, *words], capture_output=True, text=True, check=True)
    given, waits, took_s = done.stdout.split()
    assert int(given) == code
    # One look before the command starts, and one wait. A wait that nothing ends takes 10 s.
    assert int(waits) <= 2
    assert float(took_s) < 9


@pytest.mark.parametrize(
    ("arguments", "where"), [(["--core", "1"], "device 0, core 1"), (["--device", "1"], "device 1, core 0")]
)
def test_an_unknown_core_or_device(standin: Standin, arguments: list[str], where: str) -> None:
    """An unknown core or device is exit 2, with its number, the native code and its name."""
    code, _, errors = finish(command(standin, "profile", "burst", *arguments, "--for", "1s"))
    assert code == 2
    assert f"createPowerConfigId for {where} returned 13001 QNN_HTP" in errors


def test_what_the_platform_lacks_is_said(standin: Standin, tmp_path: Path) -> None:
    """A refused vote is reported once, and the other votes stay; a missing default HMX vote is not a loss."""
    standin.script("option 4 13004", "option 5 13004")
    mine = tmp_path / "mine.yaml"
    mine.write_text("profile: mine\nextends: burst\nvotes: {hmx_timeout_us: 1000}\n", encoding="utf-8")
    code, _, errors = finish(command(standin, "profile", str(mine), "--for", "0.1s"))
    assert code == 0
    assert errors.count("without HMX_TIMEOUT_INTERVAL_US: TMR-1") == 1
    assert "HMX_V2" not in errors
    assert 160 in [line.core_target for line in standin.sets]


@pytest.mark.needs("descriptors")
def test_a_command_does_not_hold_the_device(standin: Standin) -> None:
    """The command inherits no open device: the driver removes votes only after all holders have closed it."""
    standin.script("open 1")
    code, output, _ = finish(command(standin, "profile", "burst", "--", "ls", "-l", "/proc/self/fd"))
    assert code == 0
    assert "/dev/zero" not in output


@pytest.mark.needs("modes")
def test_a_script_that_names_no_interpreter_is_run_by_the_shell(standin: Standin, tmp_path: Path) -> None:
    """A shell and env do this too; the script gets its arguments and its own name, and is found by name."""
    script = tmp_path / "-script"
    script.write_text('echo "$0" "$@"; exit 7\n', encoding="utf-8")
    script.chmod(0o755)
    code, output, _ = finish(command(standin, "profile", "burst", "--", str(script), "a b", "-c"))
    assert (code, output) == (7, f"{script} a b -c\n")
    named = command(
        standin, "profile", "burst", "--", "env", f"PATH={tmp_path}:/usr/bin:/bin", sys.executable, "-c", ""
    )
    assert finish(named)[0] == 0
