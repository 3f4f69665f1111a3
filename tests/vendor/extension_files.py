"""Lint and import of extension files, compared with the vendor's parser over any number of files.

python tests/vendor/extension_files.py [--files N] [--from SEED] [--libraries FOLDER]

Prints each file with different answers, and the counts; the exit code is 1 if there is such a file. FOLDER is the
``onnxruntime_qnn`` of another version.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.extension_disagreements import disagreements
from support.voter import Voter, libraries


def main() -> int:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="SEED")
    parser.add_argument("--libraries", type=Path)
    arguments = parser.parse_args()
    reader = Voter(arguments.libraries or libraries())
    start_s = time.monotonic()
    seeds = range(arguments.first, arguments.first + arguments.files)
    wrong, refused, odd = disagreements(reader, seeds)
    reader.close()
    for each in wrong:
        print(each)
    taken = arguments.files - refused - odd
    print(f"{arguments.files} files: {refused} refused, {taken} taken, {odd} left open, {len(wrong)} disagreements")
    print(f"{time.monotonic() - start_s:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

# ruff: noqa: T201 - prints the counts, and is run by its path
