"""The three proofs on every version of the vendor's library on PyPI, each in its own environment.

python tests/vendor/all_versions.py [--sequences N] [--versions 2.6.0 2.7.0]

Prints a table; the exit code is 1 if a library and the simulated HTP disagree, an echo differs from its file, or the
vendor's own voter casts other votes than the controller. The toy model can't be made with 2.3.0, so the voter does
not run there. It needs x86-64 Linux and Python 3.11 or later, and installs some 100 MB for each version.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import attrs

VERSIONS = ("2.3.0", "2.4.0", "2.5.0", "2.6.0", "2.7.0")
HERE = Path(__file__).resolve().parent
PROOFS = ("test_echo", "test_differential", "test_voter")
NEEDED = ("pytest>=9", "hypothesis>=6.100", "freezegun>=1.5", "filelock>=3.12", "onnx>=1.16", "onnxruntime>=1.24.2")
ABOUT = """
from htppower.backends import QnnHtp
backend = QnnHtp()
print("\\n", *(version for _, version in backend.describe().versions))
backend.close()
"""
ROW = "{:<16} {:<24} {:<9} {:<9} {:>12} {:>11} {:>6} {:>14} {:>9}"


@attrs.frozen
class Result:
    """The results of one version."""

    wheel: str
    about: tuple[str, str, str]
    echoes: int
    sequences: int
    voter: int
    disagreements: int
    seconds: float

    def row(self) -> str:
        """Return the row of the table."""
        counts = (self.echoes, self.sequences, self.voter, self.disagreements, f"{self.seconds:.0f}")
        return ROW.format(self.wheel, *self.about, *counts)


def prove(wheel: str, sequences: int, folder: Path) -> Result:
    """Make an environment with this wheel, and run the proofs in it."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-e", f"{HERE.parents[1]}[dbus]", *NEEDED], check=True)
    subprocess.run([*pip, "--no-deps", f"onnxruntime-qnn=={wheel}"], check=True)
    build, core_api, htp_api = subprocess.check_output([python, "-c", ABOUT], text=True).split("\n")[-2].split()
    report = folder / "report.xml"
    start_s = time.monotonic()
    tests = [str(HERE / f"{proof}.py") for proof in PROOFS]
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "--sequences", str(sequences)]
    done = subprocess.run([python, "-m", "pytest", *tests, *options], cwd=HERE.parents[1], check=False)
    seconds = time.monotonic() - start_s
    ran = {proof: [0, 0] for proof in PROOFS}
    unmade = 0
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest has just written it
        counts = ran[case.attrib["classname"].rsplit(".", maxsplit=1)[-1]]
        if case.find("error") is not None and "test_voter" in case.attrib["classname"]:
            # A prerequisite, such as the toy model, can't be made with this version.
            unmade += 1
            continue
        counts[0] += case.find("skipped") is None
        counts[1] += case.find("failure") is not None or case.find("error") is not None
    disagreements = sum(failed for _, failed in ran.values())
    ended_well = not done.returncode or disagreements or unmade
    if not all(ran[proof][0] or (proof == "test_voter" and unmade) for proof in PROOFS) or not ended_well:
        raise SystemExit(f"{wheel}: the tests did not run")
    about = (build, core_api, htp_api)
    return Result(
        wheel,
        about,
        ran["test_echo"][0],
        ran["test_differential"][0] * sequences,
        ran["test_voter"][0],
        disagreements,
        seconds,
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=2000, help="of the differential, on each architecture")
    parser.add_argument("--versions", nargs="+", default=VERSIONS, metavar="VERSION", help="of onnxruntime-qnn")
    arguments = parser.parse_args()
    results = []
    for wheel in arguments.versions:
        with tempfile.TemporaryDirectory() as folder:
            results.append(prove(wheel, arguments.sequences, Path(folder)))
    print(
        ROW.format(
            "onnxruntime-qnn", "library", "core API", "HTP API", "echoes", "sequences", "voter", "disagreements", "s"
        )
    )
    for result in results:
        print(result.row())
    return 1 if any(result.disagreements for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

# ruff: noqa: T201 - the table is what it is for
