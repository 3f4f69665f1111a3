"""A host with ONNX Runtime and the controller on the same library of the vendor, in one process.

Argument: the order of creating and freeing the two. The assertions are here; the last line printed is "ok".
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import onnxruntime_qnn

from htppower import State, VoteController
from htppower.backends import QnnHtp, RecordingBackend
from htppower.hosts.qnn_provider import new_session

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from docs.examples.onnxruntime_npu import quantized_model

X = np.random.default_rng(3).standard_normal((16, 8)).astype(np.float32)
LIBRARY = onnxruntime_qnn.get_qnn_htp_path()


def run(model: Any) -> np.ndarray:
    """Run the model."""
    (y,) = model.run(None, {"x": X})
    return np.asarray(y)


class Host:
    """Both users of the library, and the answer that the model must give."""

    def __init__(self) -> None:
        self.model_bytes = quantized_model()
        on_cpu = onnxruntime.InferenceSession(self.model_bytes, providers=["CPUExecutionProvider"])
        self.expected = run(on_cpu)

    def load(self, mode: str = "default") -> Any:
        """Return the model on the HTP, after a run that gives what the CPU gives, to one step of quantization."""
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        model = new_session(self.model_bytes, {"htp_performance_mode": mode}, options)
        self.check(model)
        return model

    def check(self, model: Any) -> None:
        """Run the model, and compare the result with the CPU."""
        assert np.abs(run(model) - self.expected).max() <= 0.1 + 1e-6

    def vote(self, recorder: RecordingBackend, models: list[Any]) -> None:
        """Infer from four threads under profiles that change; leave the recorder's backend with nothing voted."""
        with VoteController(recorder, handle_sigterm=False) as controller:
            sessions = [controller.session("burst", owner=f"model {place}") for place in range(len(models))]
            failures: list[BaseException] = []

            def infer(number: int) -> None:
                try:
                    place = number % len(models)
                    with sessions[place].inference():
                        assert sessions[place].state is State.RAISED
                        self.check(models[place])
                except BaseException as error:  # noqa: BLE001 - shown by the assertion below
                    failures.append(error)

            def change() -> None:
                for profile in ("balanced", "high_performance", "power_saver", "burst") * 5:
                    for session in sessions:
                        session.use(profile)

            changing = threading.Thread(target=change)
            changing.start()
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(infer, range(100)))
            changing.join()
            assert failures == []
            assert all(call.code == 0 for call in recorder.calls)
        recorder.assert_nothing_left()

    def onnxruntime_first(self) -> None:
        """A model is made before the controller, and another after it; the controller's side is freed first."""
        before = self.load()
        backend = QnnHtp(LIBRARY, 57)
        after = self.load()
        self.vote(RecordingBackend(backend), [before, after])
        backend.close()
        self.check(before)
        self.check(after)
        self.check(self.load())

    def controller_first(self) -> None:
        """The controller is made before any model; the models are freed first, and the ids stay alive."""
        backend = QnnHtp(LIBRARY, 57)
        models = [self.load(), self.load()]
        recorder = RecordingBackend(backend)
        self.vote(recorder, models)
        with VoteController(backend, handle_sigterm=False) as controller:
            session = controller.session("burst")
            with session.inference():
                models.clear()
                gc.collect()
                session.use("balanced")
                assert session.state is State.RAISED
            assert session.error is None
            self.load()
        backend.close()
        self.check(self.load())

    def votes_of_both(self) -> None:
        """The provider casts its own votes on its own ids, and neither side disturbs the other."""
        backend = QnnHtp(LIBRARY, 57)
        recorder = RecordingBackend(backend)
        model = self.load("burst")
        self.vote(recorder, [model, self.load()])
        backend.close()
        self.check(model)

    def again_and_again(self) -> None:
        """The library is opened and closed many times while a model is loaded."""
        model = self.load()
        for soc_model in (57, 69, 87, 30, 57) * 4:
            backend = QnnHtp(LIBRARY, soc_model)
            backend.create_power_config_id(0, 0)
            backend.close()
            self.check(model)

    def logged(self) -> None:
        """Every line of the vendor's log goes through Python, from the threads of both."""
        logging.basicConfig(level=logging.DEBUG, filename="/dev/null")
        backend = QnnHtp(LIBRARY, 57)
        self.vote(RecordingBackend(backend), [self.load(), self.load()])
        model = self.load()
        backend.close()
        self.check(model)

    def loaded_copy(self) -> None:
        """Without a path, the controller uses the copy that the provider has loaded."""
        model = self.load()
        backend = QnnHtp(soc_model=57)
        assert list(map(str, backend.describe().tried)) == [f"loaded already by this process: {LIBRARY}: loaded"]
        self.vote(RecordingBackend(backend), [model, self.load()])
        backend.close()
        self.check(model)

    def nothing_is_closed(self) -> None:
        """The process ends with everything alive."""
        backend = QnnHtp(LIBRARY, 57)
        controller = VoteController(backend)
        session = controller.session("burst")
        running = session.inference()
        running.__enter__()
        kept.extend([self.load(), backend, controller, session, running])


kept: list[Any] = []

if __name__ == "__main__":
    getattr(Host(), sys.argv[1])()
    print("ok", flush=True)  # noqa: T201
