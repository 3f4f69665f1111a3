"""If a profile leads to a file outside the used folders that is not a profile, no text of that file is shown."""

from __future__ import annotations

import datetime
import os
import re
from pathlib import Path

import pytest

from htppower import ProfileError, load_profile
from htppower.errors import VoteTestError
from htppower.profiles.cache import ProfileCache
from htppower.tools.review.diff.sides import here, read_side
from htppower.tools.review.lint.forms import FORMS, render
from htppower.tools.review.lint.run import lint
from htppower.tools.review.vote_tests.files import load_tests

TODAY = datetime.date(2026, 11, 21)
POSIX = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
# Files with secrets: not YAML, YAML but not a profile, and a profile with mistakes.
SECRETS = {
    "passwd": "root:x:0:0:hunter2\ndaemon:hunter2:1\n",
    "environ": "A=hunter2\0B=hunter2\0",
    "one-line": "hunter2",
    "keys.yaml": "hunter2: hunter2\npassword: [hunter2, hunter2]\n",
    "list.yaml": "- hunter2\n- hunter2: hunter2\n",
    "broken.yaml": "password: 'hunter2\n",
    "profile.yaml": "profile: hunter2\nextends: burst\nhunter2: hunter2\nsummary: hunter2\nvotes: hunter2 # hunter2\n",
    "words.yaml": "profile: mine\nextends: hunter2\nvotes: {dcvs_v3: {core: hunter2, bus: on, hunter2: 010}}\n",
    "state.yaml": "state: hunter2\nextends: hunter2\nvotes: {dcvs_v3: {power_mode: hunter2}}\n",
}
TEST = """test: mine
summary: Mine.
profile: {named}
platform: {{soc: SM8650}}
cases:
  - {{case: one, sequence: [{{inference_us: 5000}}], expect: [{{at_us: 0, state: RAISED}}]}}
"""


@pytest.fixture(params=SECRETS)
def secret(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a file outside the used folders."""
    outside = tmp_path / "outside"
    outside.mkdir()
    file: Path = outside / request.param
    file.write_text(SECRETS[request.param], encoding="utf-8")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the profiles."""
    made = tmp_path / "profiles"
    made.mkdir()
    return made


def everything_said(*paths: Path) -> str:
    """Return lint's reports of files in every form, and the errors of loading the first file in each way."""
    report = lint(paths, TODAY, notes=True)
    said = [render(report, form) for form in FORMS]
    for load in (load_profile, ProfileCache().load, lambda path: read_side([path], here())):
        with pytest.raises(ProfileError) as caught:
            load(paths[0])
        said.append(str(caught.value))
    return "\n".join(said)


@pytest.mark.parametrize("way", ["absolute", "relative", "link"])
def test_a_base_elsewhere_is_named_and_not_quoted(secret: Path, folder: Path, way: str) -> None:
    """The finding is at the ``extends`` of the own profile, whatever path or link leads there."""
    named = {"absolute": str(secret), "relative": f"../outside/{secret.name}", "link": "./link.yaml"}[way]
    if way == "link":
        (folder / "link.yaml").symlink_to(secret)
    mine = folder / "mine.yaml"
    mine.write_text(f"profile: mine\nsummary: Mine.\nextends: {named}\n", encoding="utf-8")
    assert "hunter2" not in everything_said(mine)
    with pytest.raises(ProfileError) as caught:
        load_profile(mine)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.column) == (str(mine), 3, 10)
    assert named in problem.message
    (finding,) = lint([mine], TODAY).findings
    assert (finding.path, finding.line, finding.column, finding.rule) == (str(mine), 3, 10, "NAME-1")


@POSIX
def test_a_link_in_the_folder_is_named_and_not_quoted(secret: Path, folder: Path) -> None:
    """A file in the folder that is a link to another place has one finding, and is not linted."""
    link = folder / "link.yaml"
    link.symlink_to(secret)
    (folder / "good.yaml").write_text("profile: good\nextends: balanced\n", encoding="utf-8")
    assert "hunter2" not in everything_said(link, folder)
    report = lint([folder], TODAY)
    assert all(finding.path == str(link) for finding in report.findings)


def test_a_chain_is_told_where_it_leaves_the_folders(secret: Path, folder: Path) -> None:
    """The finding is at the ``extends`` of the last profile in the folders."""
    (folder / "base.yaml").write_text(f"profile: base\nextends: {secret}\n", encoding="utf-8")
    mine = folder / "mine.yaml"
    mine.write_text("profile: mine\nextends: base\n", encoding="utf-8")
    assert "hunter2" not in everything_said(mine, folder)
    (finding,) = lint([mine], TODAY).findings
    assert (finding.path, finding.line) == (str(folder / "base.yaml"), 2)


def test_a_sound_profile_elsewhere_that_extends_a_secret_tells_nothing(secret: Path, folder: Path) -> None:
    """A profile outside the folders can be used only if it and all its bases are valid profiles."""
    (secret.parent / "base.yaml").write_text(f"profile: base\nextends: ./{secret.name}\n", encoding="utf-8")
    mine = folder / "mine.yaml"
    mine.write_text("profile: mine\nextends: ../outside/base.yaml\n", encoding="utf-8")
    assert "hunter2" not in everything_said(mine)
    (finding,) = lint([mine], TODAY).findings
    assert (finding.path, finding.line) == (str(mine), 2)


def test_a_power_state_elsewhere_is_named_and_not_quoted(secret: Path, folder: Path) -> None:
    """The finding is at the ``relax.to`` that leads there."""
    mine = folder / "mine.yaml"
    mine.write_text(f"profile: mine\nextends: burst\nrelax: {{to: {secret}}}\n", encoding="utf-8")
    assert "hunter2" not in everything_said(mine)
    assert [(finding.line, finding.rule) for finding in lint([mine], TODAY).findings] == [(3, "NAME-1")]


@pytest.mark.parametrize("field", ["profile", "use"])
def test_a_test_of_a_file_elsewhere_does_not_quote_it(secret: Path, folder: Path, field: str) -> None:
    """The problem is at the field of the test that names the file."""
    text = TEST.format(named=secret if field == "profile" else "burst")
    if field == "use":
        text = text.replace("[{inference_us: 5000}]", f"[{{use: {secret}}}, {{inference_us: 5000}}]")
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(VoteTestError) as caught:
        load_tests([file])
    assert "hunter2" not in str(caught.value)
    assert {(problem.path, problem.line) for problem in caught.value.problems} == {
        (str(file), 3 if field == "profile" else 6)
    }


@POSIX
def test_a_test_that_is_a_link_elsewhere_is_not_quoted(secret: Path, folder: Path) -> None:
    """A link in a folder of tests may lead anywhere."""
    link = folder / "tests" / "link.yaml"
    link.parent.mkdir()
    link.symlink_to(secret)
    with pytest.raises(VoteTestError) as caught:
        load_tests([folder])
    assert "hunter2" not in str(caught.value)
    assert [problem.path for problem in caught.value.problems] == [str(link)]


def test_a_profile_elsewhere_is_used_and_told_at_the_extends(folder: Path, tmp_path: Path) -> None:
    """A valid profile outside can be extended; findings about its values are at the ``extends``."""
    outside = tmp_path / "outside"
    outside.mkdir()
    text = "profile: base\nextends: burst\nvotes: {rpc_polling_time_us: 10000} # hunter2\n"
    (outside / "base.yaml").write_text(text, encoding="utf-8")
    mine = folder / "mine.yaml"
    mine.write_text("profile: mine\nextends: ../outside/base.yaml\n", encoding="utf-8")
    said = everything_said(mine)
    assert "hunter2" not in said
    assert re.search(r"mine.yaml:2:10: RPC-1: .*10000", said)
    (outside / "base.yaml").write_text(text.replace("10000", "9998"), encoding="utf-8")
    (outside / "base.yaml").write_text(text.replace("burst", "balanced").replace("10000", "9"), encoding="utf-8")
    report = lint([mine], TODAY)
    assert {(finding.path, finding.rule) for finding in report.findings} == {(str(mine), "RPC-6")}
    assert str(mine) in report.lines
    assert not [path for path in report.lines if "outside" in path]
    (outside / "base.yaml").write_text(text.replace("10000", "9998"), encoding="utf-8")
    profile = load_profile(mine)
    assert profile.lineage == ("mine", "base", "burst")
    place = profile.origins["votes", "rpc_polling_time_us"]
    assert (Path(place.path).resolve(), place.line) == ((outside / "base.yaml").resolve(), 3)


@pytest.mark.parametrize("name", [".env", "notes.txt", "secrets.yaml"])
def test_what_is_no_profile_beside_a_profile_is_not_quoted(folder: Path, name: str) -> None:
    """A folder of profiles may have other files."""
    (folder / name).write_text("password: hunter2\nhunter2: [1]\n", encoding="utf-8")
    mine = folder / "mine.yaml"
    mine.write_text(f"profile: mine\nextends: ./{name}\n", encoding="utf-8")
    assert "hunter2" not in everything_said(mine, folder)


def test_a_base_in_a_folder_that_is_linted_is_told_where_it_is_wrong(folder: Path) -> None:
    """If its folder is linted or named, a base has its findings at its own lines."""
    (folder / "base.yaml").write_text("profile: base\nextends: burst\nsumary: Base.\n", encoding="utf-8")
    (folder / "phone").mkdir()
    mine = folder / "phone" / "mine.yaml"
    mine.write_text("profile: mine\nextends: ../base.yaml\n", encoding="utf-8")
    for report in (lint([folder], TODAY), lint([mine], TODAY, profiles=[folder])):
        (finding,) = report.findings
        assert (Path(finding.path).resolve(), finding.line, finding.rule) == (folder / "base.yaml", 3, "KEY-1")
    (finding,) = lint([mine], TODAY).findings
    assert (finding.path, finding.line, finding.rule) == (str(mine), 2, "NAME-1")


def test_a_folder_is_no_base(folder: Path) -> None:
    """The finding says that the path is a folder."""
    mine = folder / "mine.yaml"
    mine.write_text("profile: mine\nextends: ../..\n", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"mine.yaml:2:10: NAME-1: '../..', which it extends, is a folder"):
        load_profile(mine)


@POSIX
@pytest.mark.parametrize("named", ["/dev/zero", "/dev/stdin", "/dev/tty", "/proc/kmsg", "./pipe", "./pipe.yaml"])
def test_nothing_waits_for_a_pipe_or_a_device(folder: Path, named: str) -> None:
    """A profile that extends a pipe or a device is refused at once."""
    for name in ("pipe", "pipe.yaml"):
        os.mkfifo(folder / name)
    mine = folder / "mine.yaml"
    mine.write_text(f"profile: mine\nextends: {named}\nrelax: {{to: {named}}}\n", encoding="utf-8")
    with pytest.raises(ProfileError):
        load_profile(mine)
    assert lint([folder], TODAY).findings


@pytest.mark.needs("descriptors")
@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="the kernel's own files")  # noqa: PTH110
@pytest.mark.parametrize("named", ["/proc/self/environ", "/proc/self/cmdline", "/etc/passwd", "../../../../etc/passwd"])
def test_files_of_the_system_are_not_quoted(folder: Path, named: str) -> None:
    """A report never has text of a system file."""
    mine = folder / "mine.yaml"
    mine.write_text(f"profile: mine\nextends: {named}\n", encoding="utf-8")
    said = everything_said(mine)
    for held in ("PATH=", "root:", "pytest", "/bin/"):
        assert held not in said.replace(str(mine), "").replace(named, "")
