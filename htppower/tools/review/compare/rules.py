"""The rules of comparison, as data: what makes two measurements hard to compare, and what would make them comparable.

``comparable`` checks them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.review.advice.rules import AdviceRule, Basis

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATISTICS = "the statistics of medians"
_THIRD_PARTIES = "measured by third parties"

OTHER_GRAPH = AdviceRule(
    "CMP-1",
    "The graphs are not the same.",
    "The names of the graphs; the cycles (3003) of an inference, if both have them.",
    "Graphs of other work take other times on the same device. Cycles hardly depend on the clock.",
    "Measure the same context binary on both sides.",
    Basis.INFERRED,
    "QnnHtpProfile.h, SDK 2.50, for the meaning of cycles",
)
OTHER_SPAN = AdviceRule(
    "CMP-2",
    "The times are not of the same span.",
    "The outermost time that each side has.",
    "Each tool measures around a little more or less: AI Hub, LiteRT and traces around the whole inference, profilers "
    "around the call of the graph.",
    "Profile both sides in the same way, such as by ONNX Runtime's provider or qnn-net-run.",
    Basis.INFERRED,
    "the formats of the tools",
)
OTHER_SOC = AdviceRule(
    "CMP-3",
    "The chips are not the same.",
    "--soc of both sides, and the architecture that a log names.",
    "Each chip has its own clocks, memory and Hexagon.",
    "Measure both on the same chip.",
    Basis.INFERRED,
    "the vendor's table of SoCs",
)
SIMULATED = AdviceRule(
    "CMP-4",
    "The simulation on x86-64 made a side.",
    "Whether the file has the rows of a device.",
    "The simulation's times are those of a PC.",
    "Measure on the device.",
    Basis.DOCUMENTED,
    "vendor, the emulation of the HTP",
)
WARM_UP = AdviceRule(
    "CMP-5",
    "The warm-up is in the numbers.",
    "Averages that a power-up has moved; a slow first inference among few.",
    "The first inference waits for power and memory. In an average, or among few runs, it counts as all others do.",
    "Run some inferences before those that are measured, or measure at least 20.",
    Basis.INFERRED,
    f"power-up of 1.1 to 29 ms, {_THIRD_PARTIES} on five SoCs",
)
FEW_RUNS = AdviceRule(
    "CMP-6",
    "There are few runs.",
    "The number of runs: at least 10 on both sides.",
    "A few runs do not show how far a median moves by chance.",
    "Measure at least 30 runs on both sides.",
    Basis.INFERRED,
    _STATISTICS,
)
AVERAGES = AdviceRule(
    "CMP-7",
    "A side has averages only.",
    "Whether the file has the single runs, or their statistics.",
    "One slow run moves an average. Without the spread of the runs it is not known what is chance.",
    "Take the CSV of qnn-profile-viewer, which has each run.",
    Basis.INFERRED,
    _STATISTICS,
)
OTHER_PROFILE = AdviceRule(
    "CMP-8",
    "The profiles are not the same.",
    "--profile of both sides, and the profile in a recording.",
    "The profile decides the clocks, and whether the CPU stays awake for the answer. If you compare profiles, this is "
    "what you want to see.",
    "Measure both under the same profile, unless you compare profiles.",
    Basis.DOCUMENTED,
    'vendor, "QNN HTP Performance Infrastructure API"',
)
OTHER_SETTINGS = AdviceRule(
    "CMP-9",
    "They were made with other settings.",
    "What the files and --about say: release, delegate, nodes outside the NPU, threads, batch, measured clock.",
    "Each of these changes the time of an inference.",
    "Measure both with the same settings.",
    Basis.INFERRED,
    "the formats of the tools",
)
NOT_SETTLED = AdviceRule(
    "CMP-10",
    "The runs of a side form two groups.",
    "The times of all runs: whether they form two separate groups.",
    "A median describes neither group, and moves from one to the other by chance.",
    "Keep the votes up over the whole run (htppower profile NAME -- COMMAND), and measure again.",
    Basis.INFERRED,
    "a third party's job on AI Hub: 17.6 ms at best, 41.7 ms at the median",
)
DRIFT = AdviceRule(
    "CMP-11",
    "A side changes over its run.",
    "The median of the last quarter of the runs, compared with the first quarter.",
    "Later runs that are slower mean a limit by heat. Later runs that are faster mean a clock that was still going up. "
    "The median then depends on how long was measured.",
    "Let the device cool down, measure A and B in turns, and compare runs of the same age.",
    Basis.INFERRED,
    "6.71 to 5.47 tokens/s in five runs, 47 to 94 C, on SM8850 (llama.cpp, pull request 27785)",
)
OTHER_PACE = AdviceRule(
    "CMP-12",
    "The inferences come at another pace.",
    "The gaps between the inferences.",
    "In a gap the votes come down and the CPU falls asleep, so the next inference starts slowly.",
    "Measure both back to back, or both at the pace of the application.",
    Basis.INFERRED,
    f"+1.1 to 14 ms after more than 300 ms idle, {_THIRD_PARTIES} with LoadGen",
)
OTHER_LEVEL = AdviceRule(
    "CMP-13",
    "The profiling itself takes time on one side.",
    "Linting, optrace, and the rows of the level detailed.",
    "Detailed profiling, linting and optrace slow the graph down.",
    "Profile both at the same level.",
    Basis.DOCUMENTED,
    "vendor, the levels of profiling",
)
OVERLAP = AdviceRule(
    "CMP-14",
    "Inferences of a side overlap.",
    "The begin of each inference, compared with the end of the one before.",
    "An inference that waits for another one takes longer, though the graph does not.",
    "Measure one inference at a time on both sides, or the same number at once.",
    Basis.INFERRED,
    "the meaning of begins and ends",
)
OTHER_TOKENS = AdviceRule(
    "CMP-15",
    "The prompts or answers have other lengths.",
    "The number of tokens of the prompts and the answers.",
    "The first tokens of an answer are faster than later ones, and short prompts are padded.",
    "Ask both the same prompt, with the same length of the answer.",
    Basis.INFERRED,
    "how language models work",
)
NOT_KNOWN = AdviceRule(
    "CMP-16",
    "Not all is known of how they were made.",
    "The profile, the SoC and the release of each side.",
    "If one of them differs, the difference has another reason than you think.",
    "Name them: --profile, --soc and --about, each for both or once for each side.",
    Basis.INFERRED,
    "the other rules",
)
SPIN = AdviceRule(
    "CMP-17",
    "Threads of one host spin.",
    "--about A.spin=on. No file records it.",
    "Threads that spin while they wait for the NPU take the CPU's time and heat: 34 % of it, against 3 %. The host's "
    "part of an inference may be shorter for it, or longer.",
    "Measure both with the same setting: session.intra_op.allow_spinning of ONNX Runtime, poll of Genie.",
    Basis.INFERRED,
    f"{_THIRD_PARTIES}: microsoft/foundry-local, issue 1081",
)
_ALL = (
    OTHER_GRAPH, OTHER_SPAN, OTHER_SOC, SIMULATED, WARM_UP, FEW_RUNS, AVERAGES, OTHER_PROFILE, OTHER_SETTINGS,
    NOT_SETTLED, DRIFT, OTHER_PACE, OTHER_LEVEL, OVERLAP, OTHER_TOKENS, NOT_KNOWN, SPIN,
)  # fmt: skip
COMPARISON_RULES: Mapping[str, AdviceRule] = MappingProxyType({each.id: each for each in _ALL})
