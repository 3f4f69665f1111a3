"""The hosts in Java, Kotlin and C# of the documentation get votes from a service, and go on without one."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from support.compiled import CLIENTS, run_tool, tool
from support.fake_service import faked, right
from support.service_process import environment, served, sums
from support.shared_folders import once

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = ["java", "kotlin", "csharp"]


def _compile(language: str, folder: Path) -> None:
    if language == "java":
        assert run_tool("javac", "-Xlint:all", "-Werror", "-d", folder, CLIENTS / "Host.java") == ""
    elif language == "kotlin":
        run_tool("kotlinc", CLIENTS / "Host.kt", "-Werror", "-include-runtime", "-d", folder / "host.jar")
    else:
        assert run_tool("mcs", "-warnaserror", f"-out:{folder / 'Host.exe'}", CLIENTS / "Host.cs") == ""


@pytest.fixture(params=LANGUAGES)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command of a host, compiled once."""
    language = request.param
    tool({"java": "javac", "kotlin": "kotlinc", "csharp": "mcs"}[language])
    folder = once(tmp_path_factory, f"host_in_{language}", lambda making: _compile(language, making))
    if language == "csharp":
        return [tool("mono"), str(folder / "Host.exe")]
    java = [tool("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return [*java, "-jar", str(folder / "host.jar")] if language == "kotlin" else [*java, "-cp", str(folder), "Host"]


def run(host: list[str], place: Path, inferences: int = 20) -> tuple[str, str]:
    """Run a host, and return what it says on both outputs."""
    command = [*host, str(inferences)]
    done = subprocess.run(command, env=environment(place), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_host_gets_votes(host: list[str], tmp_path: Path) -> None:
    """Each inference has votes, and no lease is left."""
    place = tmp_path / "socket"
    with served(place):
        assert run(host, place) == ("20 inferences, 20 with votes\n", "")
        time.sleep(0.2)
        assert sums(place)["leases"] == 0


def test_a_host_runs_without_a_service(host: list[str], tmp_path: Path) -> None:
    """It complains once, and its inferences run."""
    said, complaint = run(host, tmp_path / "socket")
    assert said == "20 inferences, 0 with votes\n"
    assert complaint.startswith("no votes: ")
    assert complaint.count("\n") == 1


def test_a_host_reads_answers_that_come_in_parts(host: list[str], tmp_path: Path) -> None:
    """Lines of others, and answers in parts, disturb nothing."""
    place = tmp_path / "socket"
    other = b'{"event":"transition"}\n{"id":null,"ok":false,"error":"no inference"}\n{"id": 77, "ok": false}\n'
    with faked(place, lambda message: [other, right(message)[:12], 0.01, right(message)[12:]]) as service:
        assert run(host, place, 3) == ("3 inferences, 3 with votes\n", "")
    assert [message["do"] for message in service.got] == ["hello", "hold", *["begin", "end"] * 3]
    assert service.got[1].items() >= {"profile": "burst", "reason": "preview"}.items()
    assert {message["lease"] for message in service.got[2:]} == {7}


def test_a_host_survives_a_service_that_ends_or_hangs(host: list[str], tmp_path: Path) -> None:
    """It waits for two seconds at most, and its other inferences have no votes."""
    place = tmp_path / "socket"
    begun_s = time.monotonic()
    with faked(place, lambda message: [right(message)] if message["do"] != "begin" else [2.5, None]):
        said, complaint = run(host, place, 5)
    assert said == "5 inferences, 0 with votes\n"
    assert complaint == "no votes: no answer within 2000 ms\n"
    assert 2 <= time.monotonic() - begun_s < 30


def test_a_host_says_why_it_is_refused(host: list[str], tmp_path: Path) -> None:
    """The service's words are shown."""
    place = tmp_path / "socket"
    file = tmp_path / "service.yaml"
    file.write_text("service: npu\nusers:\n  - {user: default, most_leases: 0}\n", encoding="utf-8")
    with served(place, str(file)):
        said, complaint = run(host, place, 5)
    assert said == "5 inferences, 0 with votes\n"
    assert "release some of them" in complaint
