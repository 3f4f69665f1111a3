"""Let ONNX Runtime's QNN provider profile a model on the simulated HTP: profiled.py FOLDER.

Writes ``basic.csv`` with one session of three runs, and ``detailed.csv`` with two sessions, the second appended. The
provider writes ``..._qnn.log`` next to each.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from htppower.hosts.qnn_provider import new_session

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from docs.examples.onnxruntime_npu import quantized_model

RUNS = 3


def profile(level: str, path: Path) -> None:
    """Run a session; the provider writes as the session ends."""
    options = {"htp_performance_mode": "burst", "profiling_level": level, "profiling_file_path": str(path)}
    model = new_session(quantized_model(), options, None)
    for _ in range(RUNS):
        model.run(None, {"x": np.ones((16, 8), np.float32)})


def main(folder: Path) -> None:
    """Write the files."""
    profile("basic", folder / "basic.csv")
    for _ in range(2):
        profile("detailed", folder / "detailed.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
