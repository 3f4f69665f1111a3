"""``htppower serve`` as a process: its start, its end, clients that are killed, systemd, users, metrics."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.serving import LONGEST_S, Raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.command import Command

pytestmark = pytest.mark.needs("signals")

CLIENT = """
import sys
from htppower.client import connect
lease = connect("killed", path=sys.argv[1]).hold("burst", reason="preview")
lease.begin()
print("begun", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command until the end of the block, and wait until clients can connect."""
    with subprocess.Popen(
        [sys.executable, "-m", "htppower", "serve", "--backend", "simulated", "--socket", str(folder / "s"), *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    ) as process:
        try:
            assert process.stderr is not None
            assert "serving at" in process.stderr.readline()
            yield process
        finally:
            process.kill()


def raised(client: Raw) -> int:
    """Return how many leases have their votes up."""
    count: int = client.ask("status")["all"]["raised"]
    return count


def connected(folder: Path) -> Raw:
    """Return a client that has said hello."""
    client = Raw(str(folder / "s"))
    assert client.ask("hello", protocol=1, name="test")["ok"]
    return client


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    """It lowers the votes of its clients, removes its socket, and exits with 0."""
    with serving(tmp_path) as process:
        with connected(tmp_path) as client:
            client.ask("hold", profile="burst", reason="preview")
            client.ask("begin", lease=1, inference=1)
            process.send_signal(number)
            assert client.line() == {}
        assert process.wait(LONGEST_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert not (tmp_path / "s").exists()


def test_the_votes_of_a_killed_client_are_gone(tmp_path: Path) -> None:
    """SIGKILL of a client lowers its votes within 100 ms; the bound here is wide, for a machine under load."""
    with (
        serving(tmp_path),
        connected(tmp_path) as watching,
        subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(tmp_path / "s")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as client,
    ):
        assert client.stdout is not None
        assert client.stdout.readline() == "begun\n"
        assert raised(watching) == 1
        client.kill()
        killed_s = time.monotonic()
        while watching.ask("status")["all"]["leases"]:
            assert time.monotonic() - killed_s < LONGEST_S


def test_a_second_service_is_refused(tmp_path: Path, command: Command) -> None:
    """It exits with 2 and says what to do, and the first goes on; after SIGKILL of the first it can start."""
    with serving(tmp_path) as first:
        again = command.run("serve", "--backend", "simulated", "--socket", str(tmp_path / "s"))
        assert again.exit_code == 2
        assert "already" in again.stderr
        assert "--socket" in again.stderr
        connected(tmp_path).close()
        first.kill()
        first.wait()
        with serving(tmp_path):
            connected(tmp_path).close()


def test_status_lists_the_leases(tmp_path: Path, command: Command) -> None:
    """``htppower status`` shows each with its user, its process and its reason."""
    with serving(tmp_path) as process, connected(tmp_path) as client:
        client.ask("hold", profile="burst", reason="preview", owner="camera")
        client.ask("begin", lease=1, inference=1)
        shown = f"process {os.getpid()}: camera: preview"
        end_s = time.monotonic() + LONGEST_S
        while shown not in (said := " ".join(command.output("status", str(process.pid)).split())):
            assert time.monotonic() < end_s, said
        assert "user " in said
        assert "RAISED" in said


def test_systemd_may_pass_the_socket(tmp_path: Path) -> None:
    """The service uses the descriptor of LISTEN_FDS, and leaves the socket in place at its end."""
    with socket.socket(socket.AF_UNIX) as given:
        given.bind(str(tmp_path / "s"))
        given.listen()

        # ``exec`` keeps the number of the process, which the variable has to name.
        run = 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" -m htppower serve --backend simulated'
        with subprocess.Popen(
            ["/bin/sh", "-c", run, sys.executable],
            preexec_fn=functools.partial(os.dup2, given.fileno(), 3),  # noqa: PLW1509 - no other thread runs here
            pass_fds=(3,),
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert "the socket of systemd" in process.stderr.readline()
            with connected(tmp_path) as client:
                assert client.ask("hold", profile="burst", reason="preview")["ok"]
            process.terminate()
            assert process.wait(LONGEST_S) == 0
    assert (tmp_path / "s").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
def test_the_kernel_says_which_user_connects() -> None:
    """A user is let in by the mode of the socket, and has its own limits, whatever it says."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "serve.yaml").write_text("service: test\nusers: [{user: '65534', cap: power_saver}]\n")
        check_users(folder)


def check_users(folder: Path) -> None:
    """Connect as another user, first without the right to do so."""
    ask = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        'f = s.makefile("rw"); '
        'f.write(\'{"do": "hello", "id": 1, "protocol": 1, "name": "root"}\\n'
        '{"do": "hold", "id": 2, "profile": "burst", "reason": "r"}\\n\'); f.flush();'
        "print(f.readline(), f.readline())"
    )

    def asked() -> subprocess.CompletedProcess[str]:
        # The system's Python: another user may not read the one of root.
        return subprocess.run(
            ["/usr/bin/python3", "-c", ask, str(folder / "s")],
            user=65534,
            text=True,
            capture_output=True,
            check=False,
        )

    with serving(folder, str(folder / "serve.yaml")):
        assert "PermissionError" in asked().stderr
    with serving(folder, str(folder / "serve.yaml"), "--mode", "666"):
        said = asked()
        assert '"uid":65534' in said.stdout, said.stderr
        assert '"profile":"power_saver"' in said.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mode", "888"), "three octal digits"),
        (("--group", "no-such-group"), "there is no group"),
        (("none.yaml",), "can't be read"),
        (("--library", "x.so"), "--library"),
    ],
)
def test_a_wrong_option_is_told(tmp_path: Path, command: Command, options: tuple[str, ...], said: str) -> None:
    """The exit code is 2, and no socket is left."""
    failed = command.run("serve", "--backend", "simulated", "--socket", str(tmp_path / "s"), *options)
    assert failed.exit_code == 2
    assert said in " ".join(failed.stderr.split())
    assert not (tmp_path / "s").exists()


def test_a_wrong_file_is_told_with_its_place(tmp_path: Path, command: Command) -> None:
    """The message names line and column."""
    (tmp_path / "serve.yaml").write_text("service: test\nmost_conections: 3\n")
    failed = command.run("serve", "--backend", "simulated", str(tmp_path / "serve.yaml"))
    assert failed.exit_code == 2
    assert "serve.yaml:2:1" in failed.stderr
    assert "did you mean most_connections?" in failed.stderr


@pytest.mark.skipif(any(Path("/sys/class/thermal").glob("thermal_zone*")), reason="this machine has thermal zones")
def test_a_cap_that_cant_be_set_ends_the_start(tmp_path: Path, command: Command) -> None:
    """The service does not run without a cap that its file asks for."""
    (tmp_path / "serve.yaml").write_text("service: x\nthermal_cap: {profile: balanced, above_c: 80, below_c: 70}\n")
    failed = command.run(
        "serve", "--backend", "simulated", "--socket", str(tmp_path / "s"), str(tmp_path / "serve.yaml")
    )
    assert (failed.exit_code, "thermal_cap can't be used here" in " ".join(failed.stderr.split())) == (2, True)
    assert "thermal" in failed.stderr


def test_the_metrics_of_the_file(tmp_path: Path) -> None:
    """Prometheus finds the metrics at the port of the file."""
    pytest.importorskip("prometheus_client")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "serve.yaml").write_text(f"service: test\nmetrics_port: {port}\n")
    with serving(tmp_path, str(tmp_path / "serve.yaml")), connected(tmp_path) as client:
        client.ask("hold", profile="burst", reason="preview")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LONGEST_S) as page:
            assert b"htppower_sessions" in page.read()
