"""What is imported for a command: no command pays for what it does not use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from htppower.profiles.discovery import shipped_folder

# What runs votes, what only a host or another form needs, and what of Python is slow to import.
NEVER = (
    *("apscheduler", "asyncio", "concurrent", "ctypes", "dataclasses", "importlib.metadata", "json", "logging", "rich"),
    *("socket", "subprocess", "tempfile", "transitions"),
    *("htppower.backends", "htppower.control", "htppower.events", "htppower.errors.unavailable", "htppower.hosts"),
    *("htppower.review.json_schema", "htppower.subscribers", "htppower.testing"),
)


@pytest.mark.parametrize(
    ("arguments", "nor"),
    [
        (("list",), ("htppower.votes.native", "textwrap")),
        (("lint", str(shipped_folder() / "burst.yaml")), ("htppower.votes.native", "textwrap")),
        (("lint", str(shipped_folder())), ("htppower.votes.native", "textwrap")),
        (("explain", "burst", "core"), ()),
        (
            ("diff", "burst", "balanced"),
            ("htppower.review.diff.revision", "htppower.votes.native", "htppower.extensions"),
        ),
    ],
)
def test_a_command_imports_only_what_it_uses(arguments: tuple[str, ...], nor: tuple[str, ...]) -> None:
    """Neither the controller nor its libraries are imported to read files, nor what only other forms need."""
    code = (
        "import sys, attrs, click, yaml; before = set(sys.modules); from htppower.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    imported = done.stdout.splitlines()[-1].split()
    assert "htppower.profiles.loading" in imported
    assert not [each for each in imported if any(f"{each}.".startswith(f"{left_out}.") for left_out in (*NEVER, *nor))]


def test_the_text_does_not_load_what_draws() -> None:
    """Start-up of the text report pays nothing for pictures."""
    script = (
        "import sys; from click.testing import CliRunner; from htppower.cli.main import main;"
        "done = CliRunner().invoke(main, ['profile', 'burst', '--dry-run']);"
        "print(done.exit_code, [name for name in sys.modules if 'pictures' in name or name == 'html'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "0 []\n"


def test_onnx_runtime_is_imported_only_where_it_is_used() -> None:
    """The module can be imported, and a profile turned into options, without ONNX Runtime."""
    code = (
        "import sys; sys.modules['onnxruntime'] = sys.modules['onnxruntime_qnn'] = None;"
        "from htppower.hosts.onnxruntime import provider_options;"
        "print(provider_options('burst').options['htp_performance_mode'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "burst\n"
