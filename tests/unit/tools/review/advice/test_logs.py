"""The readers of logs of runtimes, and of the summary of optrace."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from support.measurements import Recipe, llama_log, made, read, told, viewer_csv
from support.runtime_logs import executorch_log, hexagon_log, litert_log, llama_times, observer_line, qhas_json

from htppower.tools.review.advice.measurement import Event

TIMES_US = [1000.0 + place for place in range(50)]


def test_the_statistics_of_litert(tmp_path: Path) -> None:
    """The median, its quantiles, the warm-up, the delegate and the nodes outside of it are read, in us."""
    (found,) = read(tmp_path, f"noise\n{litert_log(TIMES_US, outside=4)}\nmore noise\n")
    assert (found.graph, found.averaged, list(found.columns[Event.INFERENCE])) == ("net.tflite", True, [1024])
    assert found.spread is not None
    assert found.spread.count == 50
    assert found.spread.quantiles == ((0.0, 1000), (0.05, 1002), (0.5, 1024), (0.95, 1047), (1.0, 1049))
    assert found.once == {"load": 80_579, "first inference": 90_000, "warm-up": 55_000}
    assert found.facts == {"threads": "4", "delegate": "TfLiteQnnDelegate", "outside the NPU": "4 of 64 nodes"}
    assert "4 of 64 nodes are not in the delegate TfLiteQnnDelegate." in found.notes


def test_several_benchmarks_and_old_ones(tmp_path: Path) -> None:
    """Each benchmark of a log is a measurement of its graph; an old log has the average, and no quantiles."""
    one, two = read(tmp_path, litert_log(TIMES_US, graph="a.tflite", outside=2) + "\n" + litert_log([5.0], old=True))
    assert (one.graph, two.graph) == ("a.tflite", "net.tflite")
    assert (one.facts["outside the NPU"], two.facts["outside the NPU"]) == ("2 of 64 nodes", "0 of 64 nodes")
    assert two.spread is not None
    assert (two.spread.count, two.spread.quantiles, two.columns[Event.INFERENCE][0]) == (1, (), 5)


def test_the_benchmark_of_litert_itself(tmp_path: Path) -> None:
    """The reader looks for the texts that the tool of ai-edge-litert prints, as its source has them."""
    pytest.importorskip("ai_edge_litert")
    said = (
        "Model initialization:  1.52 ms\nWarmup (first):        0.30 ms\nWarmup (avg):          0.21 ms (5 runs)\n"
        "Inference (avg):       0.25 ms (50 runs)\nInference (min):       0.10 ms\nInference (max):       0.90 ms\n"
        "Inference (median):    0.20 ms\nInference (std):       0.01 ms\nInference (p5):        0.15 ms\n"
        "Inference (p95):       0.40 ms\n"
    )
    source = Path(sys.modules["ai_edge_litert"].__file__ or "").parent / "tools" / "benchmark_litert_model.py"
    text = source.read_text(encoding="utf-8")
    for line in said.splitlines():
        assert line.partition(":")[0] in text
    (found,) = read(tmp_path, said)
    assert found.spread is not None
    assert found.spread.quantiles == ((0.0, 100), (0.05, 150), (0.5, 200), (0.95, 400), (1.0, 900))
    assert (found.spread.count, found.once["load"]) == (50, 1520)


def test_the_runner_of_executorch(tmp_path: Path) -> None:
    """Each line of an input is a time; the time of loading the method is read. One line of many runs is an average."""
    (found,) = read(tmp_path, executorch_log(TIMES_US))
    assert list(found.columns[Event.INFERENCE]) == pytest.approx(TIMES_US)
    assert (found.averaged, round(found.once["load"])) == (False, 133_366)
    (averages,) = read(tmp_path, executorch_log(TIMES_US, runs=20))
    assert list(averages.columns[Event.INFERENCE]) == pytest.approx(TIMES_US)
    assert "Each time is the average of 20 runs of one input." in averages.notes
    (alone,) = read(tmp_path, executorch_log([10_966.24], runs=100))
    assert (alone.averaged, alone.count) == (True, 1)
    assert alone.spread is not None
    assert alone.spread.count == 100


def test_language_models_of_executorch(tmp_path: Path) -> None:
    """Rates are computed from the moments; a line of another program with the same word is passed over."""
    log = "\n".join(('PyTorchObserver {"type": "NET", "value": "9"}', observer_line(200, 50, 60, 3000)))
    (found,) = read(tmp_path, log)
    assert found.columns[Event.FIRST_TOKEN] == [200_000]
    assert list(found.columns[Event.PROMPT_RATE]) == pytest.approx([250])
    assert list(found.columns[Event.TOKEN_RATE]) == pytest.approx([20])
    assert found.once == {"load": 2_500_000}


@pytest.mark.parametrize("form", ["new", "middle", "old", "batches"])
def test_the_hexagon_backend_of_llama_cpp(tmp_path: Path, form: str) -> None:
    """In each form of its lines an inference is the ops until one comes again, or a batch; cycles give the clock."""
    (found,) = read(tmp_path, hexagon_log([120.0, 130.0, 110.0], form=form))
    assert list(found.columns[Event.ACCELERATOR]) == [220, 230, 210]
    assert list(found.columns[Event.TIMELINE]) == [220 * 1400, 230 * 1400, 210 * 1400]
    assert found.facts == {"arch": "V79"}
    assert found.graph == ("HTP0, batches of 3 ops" if form == "batches" else "HTP0")
    if form == "old":
        assert list(found.columns[Event.RPC]) == [220 + 210, 230 + 210, 210 + 210]
    else:
        assert Event.RPC not in found.columns


def test_prompt_and_answer_of_the_hexagon_backend_are_two_graphs(tmp_path: Path) -> None:
    """The same ops with other sizes are another graph, so a prompt is not compared with an answer."""
    prompt, answer = hexagon_log([900.0] * 2).replace("64:64", "64:512"), hexagon_log([100.0] * 5)
    one, two = read(tmp_path, prompt + answer)
    assert [list(each.columns[Event.ACCELERATOR]) for each in (one, two)] == [[1000] * 2, [200] * 5]
    assert (one.graph, two.graph) == ("HTP0, graph 1", "HTP0, graph 2")


def test_the_times_of_llama_cpp(tmp_path: Path) -> None:
    """Each run with a prompt and an answer is a query; the time of loading is read."""
    log = llama_times((1000.0, 100), (2000.0, 40)) + "\n" + llama_times((500.0, 100), (1000.0, 40))
    (found,) = read(tmp_path, log)
    assert found.columns[Event.PROMPT_RATE] == [100, 200]
    assert found.columns[Event.TOKEN_RATE] == [20, 40]
    assert found.once == {"load": pytest.approx(4_924_250)}


def test_a_log_of_several_runtimes(tmp_path: Path) -> None:
    """Lines of two runtimes in one log are two measurements."""
    forms = {each.form for each in read(tmp_path, hexagon_log([9.0] * 3) + llama_times((9.0, 9), (9.0, 9)))}
    assert forms == {"log of llama.cpp's Hexagon backend", "times of llama.cpp"}
    both = read(tmp_path, llama_log(made([Recipe()] * 3)) + litert_log(TIMES_US))
    assert [each.form for each in both] == ["log of llama.cpp's QNN backend", "log of LiteRT's benchmark"]


def test_lines_that_are_cut_off_are_passed_over(tmp_path: Path) -> None:
    """A log that ends within a line gives what it has; without a whole line it is named."""
    log = hexagon_log([120.0, 130.0])
    (found,) = read(tmp_path, log[:-40])
    assert len(found.columns[Event.ACCELERATOR]) == 2
    assert told(tmp_path, log.partition("profile-op")[0]).startswith("FILE: is a log of llama.cpp's Hexagon backend")
    assert not math.isnan(found.columns[Event.ACCELERATOR][1])


def test_the_summary_of_optrace(tmp_path: Path) -> None:
    """Its time and its cycles are read; a row without them is an error that names its place."""
    (found,) = read(tmp_path, qhas_json([(1132.0, 1_582_526.0)]))
    assert (found.columns[Event.ACCELERATOR], found.columns[Event.TIMELINE]) == ([1132], [1_582_526])
    assert found.graph == "net"
    lacking = qhas_json([(1.0, 2.0)]).replace("timeline_cycles", "other")
    assert "FILE:data.htp_overall_summary.data[0]: has no timeline_cycles" in told(tmp_path, lacking)
    assert "has no executed graph" in told(tmp_path, qhas_json([]))


def test_the_release_is_in_the_lines_of_the_viewer(tmp_path: Path) -> None:
    """The viewer writes the releases of the tools before its table."""
    text = "Generated using:\nqnn-net-run        v2.31.0.250130\n"
    (found,) = read(tmp_path, text + viewer_csv(made([Recipe()] * 3)))
    assert found.facts == {"release": "2.31.0.250130"}
