"""Lint of any file gives a report, with an error exactly if loading refuses the file."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.shipped import shipped_folder

from htppower import ProfileError, load_profile
from htppower.errors import Severity
from htppower.tools.review.lint.forms import FORMS, render
from htppower.tools.review.lint.run import lint

TODAY = datetime.date(2026, 11, 21)
BURST = (shipped_folder() / "burst.yaml").read_bytes()
PIECES = [
    b"extends: balanced\n",
    b"votes: unset\n",
    b"relax: {to: mine}\n",
    b"  rpc_polling_time_us: 500\n",
    b"# htppower: disable=RPC-6,REV-2 until=2027-01-01 because=it polls\n",
    b"# htppower: disable=NOPE\n",
    b"\xff",
    b"\t",
    b"&a *a",
    b"{min: TURBO, target: NOM, max: SVS}",
    b"unset",
    b"DISABLE",
    b"true",
    b"-1",
    b"\xe2\x80\xa8",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return burst with pieces cut out and inserted."""
    data = BURST
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        data = data[:start] + draw(st.sampled_from([b"", *PIECES])) + data[end:]
    return data


@examples(45)
@given(mutated() | st.binary(max_size=60))
def test_lint_tells_what_loading_refuses_and_never_fails(data: bytes) -> None:
    """A file has errors exactly if it can't be loaded, in every form."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "burst.yaml")
        file.write_bytes(data)
        report = lint([file], TODAY, notes=True)
        assert all(render(report, form) is not None for form in FORMS)
        refused = [found for found in report.findings if found.severity is Severity.ERROR and found.rule[:3] != "SUP"]
        try:
            load_profile(file)
        except ProfileError as error:
            expected = {problem.rule for problem in error.problems}
            assert {found.rule for found in refused} == expected
        else:
            assert refused == []
