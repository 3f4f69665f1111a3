"""Runs ONNX Runtime's QNN provider and logs its votes; lines that begin with "##" separate the parts of the log.

The vendor's library writes the log to this process's output, through ONNX Runtime or through htppower. The last line
printed is "ok".
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import onnxruntime_qnn

from htppower import VoteController, profile_names
from htppower.backends import QnnHtp, RecordingBackend
from htppower.hosts.onnxruntime import load_model, provider_options
from htppower.hosts.qnn_provider import modes as qnn_modes
from htppower.hosts.qnn_provider import new_session

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from docs.examples.onnxruntime_npu import quantized_model

ROOT = Path(__file__).resolve().parents[3]
# Options that look right, and those that the check of settings says are ignored.
GIVEN = (
    *(("htp_performance_mode", "BURST"), ("htp_performance_mode", "turbo"), ("htp_performance_mode", "2")),
    *(("qnn.perf_mode", "burst"), ("perf_profile", "burst"), ("htp_perf_mode", "burst")),
)
MODEL = quantized_model()
X = {"x": np.random.default_rng(3).standard_normal((16, 8)).astype(np.float32)}


def told() -> Any:
    """Return session options that run everything on the HTP, and log all."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.log_severity_level = 0
    return options


def mark(*words: str) -> None:
    """Begin a part."""
    print("##", *words, flush=True)


def modes() -> None:
    """Each mode of the provider, and the options of each profile, as it loads, runs and goes."""
    each = {f"mode {mode}": {"htp_performance_mode": mode} for mode in qnn_modes()}
    each |= {f"profile {name}": provider_options(name).options for name in profile_names()}
    each |= {f"given {key}={value}": {key: value} for key, value in GIVEN}
    for words, options in each.items():
        mark(words)
        session = new_session(MODEL, options, told())
        assert session.get_providers()[0] == "QNNExecutionProvider"
        assert session.get_provider_options()["QNNExecutionProvider"].items() >= options.items()
        mark(words, "runs")
        session.run(None, X)
        del session


def run_options() -> None:
    """The run options that vote, on a session that does not."""
    session = new_session(MODEL, {"htp_performance_mode": "default"}, told())
    for name, value in (
        ("qnn.htp_perf_mode", "burst"),
        ("qnn.htp_perf_mode_post_run", "power_saver"),
        ("qnn.rpc_control_latency", "100"),
        ("qnn.htp_perf_mode", "default"),
        ("qnn.perf_mode", "burst"),
        ("htp_performance_mode", "burst"),
        ("qnn.htp_perf_mode", "turbo"),
        ("qnn.htp_perf_mode", "BURST"),
    ):
        mark("run", name, value)
        options = onnxruntime.RunOptions()
        options.add_run_config_entry(name, value)
        session.run(None, X, options)
    mark("dynamic")
    session.set_ep_dynamic_options({"ep.dynamic.qnn_htp_performance_mode": "high_performance"})
    mark("gone")
    del session


def page() -> None:
    """The short example of the docs, with a model and inputs."""
    text = (ROOT / "docs" / "onnxruntime.md").read_text(encoding="utf-8")
    block = text.split("```{code-block} python\n")[1].split("```")[0]
    mark("page")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "detector.onnx").write_bytes(MODEL)
        os.chdir(folder)
        names: dict[str, Any] = {"inputs": X}
        exec(compile(block, "onnxruntime.md", "exec"), names)  # noqa: S102 - the page is ours
        os.chdir(ROOT)
    mark("outputs", str(names["outputs"][0].shape))


def controller() -> None:
    """The wrapper: the controller votes, and the provider does not."""
    backend = QnnHtp(onnxruntime_qnn.get_qnn_htp_path())
    recorder = RecordingBackend(backend)
    mark("controller")
    with VoteController(recorder, handle_sigterm=False) as votes_of:
        votes = votes_of.session("balanced")
        with load_model(MODEL, votes, session_options=told()) as model:
            (expected,) = model.run(None, X)
            answers: queue.Queue[Any] = queue.Queue()
            model.run_async(None, X, lambda results, to, _error: to.put(results), answers)
            assert np.array_equal(answers.get(timeout=60)[0], expected)
            binding = model.io_binding()
            binding.bind_cpu_input("x", X["x"])
            binding.bind_output("y")
            model.run_with_iobinding(binding)
            assert np.array_equal(binding.copy_outputs_to_cpu()[0], expected)
            del binding
    calls = [call for call in recorder.calls if call.function == "setPowerConfig"]
    mark("calls", json.dumps([call.power_config_id for call in calls]))
    backend.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(message)s")
    onnxruntime.set_default_logger_severity(0)
    modes()
    run_options()
    # The library logs on the thread that opened it. The main thread makes no native call.
    thread = threading.Thread(target=controller)
    thread.start()
    thread.join()
    page()
    print("ok", flush=True)

# ruff: noqa: T201 - what it prints is read
