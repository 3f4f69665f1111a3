"""Makes the package ``support`` importable if a benchmark is run as a program."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
