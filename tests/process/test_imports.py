"""The imports of a command: no command imports modules that it does not use."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from support.checkout import ROOT
from support.shipped import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# Slow modules of Python and others, which no reading command imports.
SLOW = (
    *("apscheduler", "asyncio", "concurrent", "csv", "ctypes", "dask", "dataclasses", "importlib.metadata"),
    *("numpy", "random", "rich", "socket", "statistics", "subprocess", "tempfile", "xml"),
)
# The core that runs votes, and modules for hosts, other commands or other forms only.
OTHERS = (
    *("htppower.backends", "htppower.control"),
    *("htppower.events", "htppower.hosts"),
    *(
        "htppower.tools.review.advice",
        "htppower.tools.review.dry_run",
        "htppower.tools.review.json_schema",
        "htppower.tools.review.tuning",
    ),
    *("htppower.tools.runtimes", "htppower.subscribers", "htppower.sustain", "htppower.testing"),
    *("json", "logging", "transitions"),
)
# Modules for the options of a dry run, and for options that write files.
OF_A_DRY_RUN = ("htppower.tools.cli.parameter_types", "htppower.tools.cli.workload")
OF_OTHER_OPTIONS = (*OF_A_DRY_RUN, "htppower.tools.cli.outputs")
# Modules for files of one kind, a named platform, or a native form.
NOT_NAMED = (
    *("htppower.tools.extensions", "htppower.rules.platforms", "htppower.rules.socs"),
    "htppower.tools.tuning",
)


def imported_by(*arguments: str, besides: str = "attrs, click, yaml", **environment: str) -> list[str]:
    """Return the imports of a command without its libraries."""
    code = (
        f"import sys, {besides}; before = set(sys.modules); from htppower.tools.cli.main import main\n"
        "try: main(sys.argv[1:], prog_name='htppower')\n"
        "except SystemExit: pass\n"
        "print('', *set(sys.modules) - before)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return done.stdout.splitlines()[-1].split()


def of(imported: list[str], left_out: Iterable[str]) -> list[str]:
    """Return the imports in some modules and packages."""
    return [each for each in imported if any(f"{each}.".startswith(f"{name}.") for name in left_out)]


@pytest.mark.parametrize(
    ("arguments", "nor"),
    [
        (
            ("list",),
            (
                *NOT_NAMED,
                *OF_OTHER_OPTIONS,
                "htppower.tools.review.explain",
                "htppower.tools.review.lint",
                "htppower.votes.native",
            ),
        ),
        (
            ("lint", str(shipped_folder() / "burst.yaml")),
            (*NOT_NAMED, *OF_A_DRY_RUN, "htppower.tools.review.explain", "htppower.votes.native"),
        ),
        # It reads its device models, too.
        (
            ("lint", str(shipped_folder())),
            (
                "htppower.tools.extensions",
                "htppower.tools.review.explain",
                "htppower.tools.tuning.cost",
                "htppower.tools.tuning.traces",
            ),
        ),
        (
            ("explain", "burst", "core"),
            (*NOT_NAMED, *OF_A_DRY_RUN, "htppower.tools.cli.outputs", "htppower.tools.review.explain.code_texts"),
        ),
        (("show", "burst"), (*NOT_NAMED, "htppower.tools.review.explain", "htppower.tools.review.lint")),
        (("diff", "burst", "balanced"), ("htppower.tools.extensions", "htppower.tools.review.diff.revision")),
    ],
)
def test_a_command_imports_only_what_it_uses(arguments: tuple[str, ...], nor: tuple[str, ...]) -> None:
    """A reading command imports neither the controller nor its libraries, and no module of another form."""
    imported = imported_by(*arguments)
    assert "htppower.profiles.loading" in imported
    assert of(imported, (*SLOW, *OTHERS, *nor)) == []


def test_a_dry_run_imports_no_library_that_votes() -> None:
    """A dry run imports no timer of a real controller, and no module for hosts, pictures or other commands."""
    imported = imported_by("profile", "burst", "--dry-run")
    assert "htppower.control.controller" in imported
    apart = {
        "htppower.sustain",
        "htppower.tools.review.dry_run",
        "htppower.control",
        "htppower.backends",
        "htppower.testing",
    }
    others = {*OTHERS, *SLOW} - apart - {"htppower.events", *("json", "logging")}
    nor = (
        "htppower.backends.qnn",
        "htppower.control.time.scheduler",
        "htppower.tools.review.pictures",
        "htppower.tools.tuning",
    )
    # From Python 3.14 on logging itself imports dataclasses.
    logs = {"dataclasses"} if sys.version_info >= (3, 14) else set()
    assert of(imported, (*(others - {"transitions"} - logs), *nor)) == []


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (("--help",), {}),
        (("--version",), {}),
        ((), {"_HTPPOWER_COMPLETE": "bash_complete", "COMP_WORDS": "htppower pro", "COMP_CWORD": "1"}),
    ],
)
def test_all_commands_are_told_without_importing_one(arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    """The help of all commands and the completion of their names import no command and no profile."""
    imported = imported_by(*arguments, **environment)
    assert "htppower.tools.cli.commands" in imported
    assert of(imported, ("htppower.profiles", "htppower.rules", "htppower.tools.review.lint", *SLOW, *OTHERS)) == []


@pytest.mark.parametrize("command", ["profile", "show"])
def test_names_of_profiles_are_completed_without_reading_one(command: str) -> None:
    """Completion of profile names lists folders, without YAML and the values of profiles."""
    words = {"_HTPPOWER_COMPLETE": "bash_complete", "COMP_WORDS": f"htppower {command} bur", "COMP_CWORD": "2"}
    imported = imported_by(**words)
    assert "htppower.profiles.discovery" in imported
    values = ("htppower.profiles.loading", "htppower.profiles.profile", "htppower.rules", "htppower.votes.options")
    assert (
        of(
            imported,
            (*SLOW, *(set(OTHERS) - {"htppower.tools.review.dry_run"}), *values),
        )
        == []
    )


def test_the_text_does_not_load_what_draws() -> None:
    """The start of the text report imports nothing for pictures."""
    script = (
        "import sys; from click.testing import CliRunner; from htppower.tools.cli.main import main;"
        "done = CliRunner().invoke(main, ['profile', 'burst', '--dry-run']);"
        "print(done.exit_code, [name for name in sys.modules if 'pictures' in name or name == 'html'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "0 []\n"


def test_a_running_host_imports_no_tool() -> None:
    """A controller with all that it offers, the hosts and the subscribers load nothing of ``htppower.tools``."""
    source = """
import sys, tempfile, htppower, htppower.hosts.onnxruntime
from htppower.subscribers import chrome_trace, trace_file
with htppower.VoteController(backend="simulated", learnt=tempfile.mktemp()) as controller:
    session = controller.session("burst", owner="camera")
    with controller.record(tempfile.mktemp()), controller.serve_status(tempfile.mktemp()), session.inference():
        controller.cap("balanced", reason="hot").lift()
        session.use("high_performance")
print([name for name in sys.modules if name.startswith("htppower.tools")])
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_onnx_runtime_is_imported_only_where_it_is_used() -> None:
    """The module imports, and a profile becomes options, without ONNX Runtime."""
    code = (
        "import sys; sys.modules['onnxruntime'] = sys.modules['onnxruntime_qnn'] = None;"
        "from htppower.hosts.onnxruntime import provider_options;"
        "print(provider_options('burst').options['htp_performance_mode'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "burst\n"


def test_a_zip_file_says_that_it_has_no_profiles(tmp_path: Path) -> None:
    """The files of a zip are in no folder, so the error says why the profiles are missing, and what to do."""
    packed = tmp_path / "htppower.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in (ROOT / "htppower").rglob("*.py"):
            archive.write(file, file.relative_to(ROOT))
    environment = {**os.environ, "PYTHONPATH": str(packed)}
    for arguments in (["show", "burst"], ["list"]):
        command = [sys.executable, "-m", "htppower", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "can't run from a zip file" in " ".join(done.stderr.split())
