"""What is imported for a command: no command pays for what it does not use."""

from __future__ import annotations

import os
import subprocess
import sys

from htppower.profiles.discovery import shipped_folder


def test_diff_imports_nothing_that_runs_votes() -> None:
    """Neither the controller nor its libraries are imported, nor what only other forms need."""
    code = (
        "import sys; from htppower.cli.main import main\n"
        "try: main(['diff', 'burst', 'balanced'])\n"
        "except SystemExit: pass\n"
        "left_out = {'transitions', 'apscheduler', 'htppower.control.controller', 'json'}\n"
        "left_out.add('htppower.review.diff.revision')\n"
        "print(sorted(left_out & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.splitlines()[-1] == "[]"


def test_explain_imports_nothing_that_runs_votes() -> None:
    """Neither the controller nor its libraries are imported."""
    code = (
        "import sys; from htppower.cli.main import main; main(['explain', 'burst', 'core'], standalone_mode=False);"
        "left_out = {'transitions', 'apscheduler', 'htppower.control.controller', 'json', 'rich'};"
        "print(sorted(left_out & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_lint_imports_nothing_that_runs_votes() -> None:
    """Neither the controller nor its libraries are imported, nor what only other forms need."""
    code = (
        "import sys; from htppower.cli.main import main; main(['lint', sys.argv[1]], standalone_mode=False);"
        "left_out = {'transitions', 'apscheduler', 'htppower.control.controller', 'json', 'rich'};"
        "print(sorted(left_out & set(sys.modules)))"
    )
    arguments = [sys.executable, "-c", code, str(shipped_folder())]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


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
