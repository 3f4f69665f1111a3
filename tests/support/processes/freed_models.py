"""A host with OpenVINO that frees each model as soon as all of its requests have ended: ``freed_models.py ROUNDS``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import openvino

from htppower import VoteController
from htppower.backends import SimulatedHtp

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from docs.examples.openvino_host import run_all

# Threads are switched often, as on a busy machine.
sys.setswitchinterval(1e-5)
INPUTS = [np.ones((2, 3), dtype=np.float32)] * 20

kept: list[StopIteration] = []


def tell(_output: object) -> None:
    """Catch an exception, and store it, like a future."""
    try:
        next(iter(()))
    except StopIteration as error:
        kept.append(error)


x = openvino.opset13.parameter([2, 3], np.float32, name="x")
graph = openvino.Model([openvino.opset13.add(x, x)], [x], "double")
with VoteController(SimulatedHtp(arch=75)) as controller, controller.session("burst") as votes:
    for _ in range(int(sys.argv[1])):
        model = openvino.compile_model(graph, "CPU")
        run_all(model, votes, INPUTS, tell)
        del model
sys.stdout.write("freed\n")
