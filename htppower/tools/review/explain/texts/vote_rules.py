"""The texts of the rules on votes: why, an example of a breach, the mend."""

from __future__ import annotations

from htppower.tools.review.explain.texts.rule_text import RuleText, mine, votes

_HMX = "hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: HIGH}"
_CENG = "ceng: {min: SVS, target: NOM, max: NOM, perf_mode: HIGH}"
_CENG_EXP = "ceng_exp: {min: SVS, target: NOM, max: NOM, perf_mode: HIGH}"
_EXPANDED = (
    "dcvs_v3_exp: {power_mode: PERFORMANCE, sleep_latency_us: 40, sleep_disable: unset, bus: TUR_L1, core: TUR_L1, "
    "core_perf_mode: HIGH, bus_perf_mode: HIGH}"
)
_V73 = ("--arch", "V73")

HVX_TEXTS = {
    "DCVS-1": RuleText(
        "The DSP uses another latency instead of one outside this range, so the profile would be wrong.",
        "State 10 to 65535 us; 65535 means no limit: the DSP may sleep as deeply as it likes.",
        votes("dcvs_v3: {sleep_latency_us: 5}"),
        votes("dcvs_v3: {sleep_latency_us: 40}"),
    ),
    "DCVS-2": RuleText(
        "Limits that contradict each other can't all be kept. The library accepts them and does not report which it "
        "drops.",
        "Put the corners in order, lowest first.",
        votes("dcvs_v3: {core: {min: TURBO, target: NOM, max: TURBO}}"),
        votes("dcvs_v3: {core: {min: NOM, target: NOM, max: TURBO}}"),
    ),
    "DCVS-3": RuleText(
        "With DCVS off the clocks stay at their target, so the power mode has no effect.",
        "Leave it as a reminder, or let DCVS move the clocks.",
        votes("dcvs_v3: {dcvs_enable: false, power_mode: POWER_SAVER}"),
        votes("dcvs_v3: {dcvs_enable: true, power_mode: POWER_SAVER}"),
        lint=("--notes",),
    ),
    "DCVS-4": RuleText(
        "A field of an HVX vote stays until a vote changes it. A DSP that can't sleep any more drains the battery "
        "long after the last inference.",
        "Leave sleep_disable unset, or relax to power states that set it to false.",
        votes("dcvs_v3: {sleep_disable: true}"),
        votes("dcvs_v3: {sleep_disable: unset}"),
    ),
    "DCVS-5": RuleText(
        "Both forms vote on the same clocks, and the library refuses the two in one call.",
        "Leave one of them unset.",
        votes(_EXPANDED),
        votes(f"dcvs_v3: unset, {_EXPANDED}"),
    ),
    "DCVS-6": RuleText(
        "Older architectures do not know expanded corners for HVX. The nearest plain vote is cast instead, which "
        "may be lower.",
        "Vote by dcvs_v3 if the profile also runs on older architectures.",
        votes(f"dcvs_v3: unset, {_EXPANDED}"),
        votes("dcvs_v3: {core: TURBO}"),
        lint=("--arch", "V81"),
    ),
}

HMX_TEXTS = {
    "HMX-1": RuleText(
        "Before V75 the HMX clock has no vote of its own: it follows the core clock, whatever the profile votes.",
        "Write hmx_v2: default if the profile also runs on older architectures.",
        votes(_HMX),
        votes("hmx_v2: default"),
        lint=_V73,
    ),
    "HMX-2": RuleText(
        "The library refuses an HMX vote on an id that has no HVX vote yet.",
        "There is nothing to mend.",
        said="Nothing in a file can break it: htppower sends the HVX vote first.",
    ),
    "HMX-3": RuleText(
        "The library refuses a vote on the HMX clock unless the HVX vote is active.",
        "Vote a core corner above DISABLE, or leave HMX at its default.",
        votes(f"dcvs_v3: {{core: DISABLE}}, {_HMX}"),
        votes("dcvs_v3: {core: DISABLE}, hmx_v2: default"),
    ),
    "HMX-4": RuleText(
        "An id that has never had an HMX vote runs HMX with its core clock.",
        "There is nothing to mend.",
        said="Nothing in a file can break it: hmx_v2: unset sends nothing.",
    ),
    "HMX-5": RuleText(
        "An explicit HMX vote outlives the profile that cast it: a power state without an HMX vote would leave "
        "the matrix unit up.",
        "There is nothing to mend in a file; in calls of your own, send the HMX default (pick default).",
        said="Nothing in a file can break it: htppower adds the default to votes that leave HMX out.",
    ),
    "HMX-6": RuleText(
        "The library refuses to change or revert an HMX vote on an id whose HVX vote is gone or DISABLE.",
        "Send the HVX vote in the same call.",
        said="A call with only another hmx_v2, on an id whose HVX vote is DISABLE. No file leads to one.",
    ),
    "HMX-7": RuleText(
        "A destroyed id has no votes, so closing a session takes back all its votes.",
        "There is nothing to mend.",
        said="Nothing in a file can break it: session.close() destroys the ids.",
    ),
    "ID-1": RuleText(
        "Votes on id 0 belong to no client: they may override all other votes of the process, and "
        "are never taken back.",
        "There is nothing to mend in a file; in code of your own, create an id and vote on that.",
        said="Nothing in a file can break it: every id is one that the library has given, and 0 is refused.",
    ),
    "HMX-8": RuleText(
        "HMX knows expanded corners only, and limits that contradict each other can't all be kept. Libraries from "
        "QAIRT 2.50 on refuse plain corners.",
        "Name expanded corners (htppower explain TUR), lowest first.",
        votes("hmx_v2: {min: TUR, target: NOM, max: TUR, perf_mode: HIGH}"),
        votes(_HMX),
    ),
}

CENG_TEXTS = {
    "CENG-1": RuleText(
        "Older architectures have no vote on the compression engine: it stays at its lowest corner.",
        "Leave ceng out if the profile also runs on older architectures.",
        votes(_CENG),
        votes("ceng: unset"),
        lint=_V73,
    ),
    "CENG-2": RuleText(
        "The library refuses a vote on the compression engine unless the HVX vote is active.",
        "Vote a core or bus corner above DISABLE, or leave ceng unset.",
        votes(f"dcvs_v3: {{core: DISABLE, bus: DISABLE}}, {_CENG}"),
        votes(f"dcvs_v3: {{core: NOM}}, {_CENG}"),
    ),
    "CENG-3": RuleText(
        "Both forms vote on the same clock, and the library refuses the two in one call.",
        "Leave one of them unset.",
        votes(f"{_CENG}, {_CENG_EXP}"),
        votes(_CENG),
    ),
    "CENG-4": RuleText(
        "Limits that contradict each other can't all be kept. The library accepts them and does not report which it "
        "drops.",
        "Put the corners in order, lowest first.",
        votes("ceng: {min: NOM, target: SVS, max: NOM, perf_mode: HIGH}"),
        votes(_CENG),
    ),
}

NUMBER_TEXTS = {
    "RPC-1": RuleText(
        "Longer polling is not defined, but the library silently accepts any number.",
        "State 0 to 9999 us; 0 is off.",
        votes("rpc_polling_time_us: 10000"),
        votes("rpc_polling_time_us: 9999"),
    ),
    "RPC-2": RuleText(
        "Adaptive polling sets when polling begins. If nothing polls, it has no effect.",
        "State a polling time above 0, too, or leave adaptive polling unset.",
        votes("rpc_polling_time_us: 0, adaptive_polling_time_us: 1000"),
        votes("rpc_polling_time_us: 9999, adaptive_polling_time_us: 1000"),
    ),
    "RPC-3": RuleText(
        "Adaptive polling lets the CPU sleep before it polls. A model under 1 ms is done earlier, and only loses time.",
        "State 1000 us or more, or leave it unset.",
        votes("adaptive_polling_time_us: 500"),
        votes("adaptive_polling_time_us: 1000"),
    ),
    "RPC-4": RuleText(
        "QNX has no such settings of remote calls, so the profile is slower to wake up there than elsewhere.",
        "Leave these votes unset if the profile is for QNX.",
        votes("rpc_polling_time_us: 9999"),
        votes("rpc_polling_time_us: unset, rpc_control_latency_us: unset"),
        lint=("--platform", "qnx"),
    ),
    "RPC-5": RuleText(
        "The latency acts on the whole process, and no value takes an earlier one back: 0 casts no vote. So a "
        "latency stays until the process ends.",
        "Leave it unset if no remote call has to be fast.",
        votes("rpc_control_latency_us: 0"),
        votes("rpc_control_latency_us: unset"),
        lint=("--notes",),
    ),
    "RPC-6": RuleText(
        "A polling process keeps a CPU core busy while it waits for the DSP: 20 % to 200 % of a core when idle. In a "
        "profile for saving power this costs more than the clocks save.",
        "State 0, or extend burst, sustained_high_performance or high_performance.",
        votes("rpc_polling_time_us: 100", "balanced"),
        votes("rpc_polling_time_us: 0", "balanced"),
    ),
    "RPC-7": RuleText(
        "The FastRPC library of many boards has no polling: it refuses to turn it on or off. Clocks do not go through "
        "it, so htppower sends these settings in a separate call after the clocks.",
        "There is nothing to mend in a file. For polling, install a FastRPC library and a kernel that have it.",
        said="Nothing in a file can break it, only the FastRPC library of the board.",
    ),
    "TMR-1": RuleText(
        "The library refuses a call with a timeout outside this range.",
        "State 100 to 1000000 us, or leave it unset.",
        votes("hmx_timeout_us: 50"),
        votes("hmx_timeout_us: 500"),
    ),
    "DDR-1": RuleText(
        "The mode raises the memory above what the highest bus corner gives; below that corner it has no effect.",
        "Vote the bus at MAX_VOLTAGE_CORNER, or leave ddr_perf_mode unset.",
        votes("ddr_perf_mode: true, dcvs_v3: {bus: TURBO}"),
        votes("ddr_perf_mode: true, dcvs_v3: {bus: MAX_VOLTAGE_CORNER}"),
    ),
    "DDR-2": RuleText(
        "The vendor has the profile for Hexagon V79 on, and the mode for V81 on: on V79 the other votes are cast "
        "without it. Any other profile with the mode is refused there (DDR-1).",
        "Leave it as it is, or set ddr_perf_mode unset in a profile that is only for V79.",
        mine("summary: Mine.", "llm_decode_burst"),
        votes("ddr_perf_mode: unset", "llm_decode_burst"),
        lint=("--arch", "V79"),
    ),
}

RELAX_TEXTS = {
    "SUS-1": RuleText(
        "A timer is up to 19 ms late if another thread is busy. After a shorter sustain time the votes are lowered at "
        "a random time, and two runs of the same host differ.",
        "State 0 to lower at once, or 20000 us and more.",
        mine("relax: {after_inference_us: 5000}"),
        mine("relax: {after_inference_us: 20000}"),
    ),
    "SUS-2": RuleText(
        "Without a power state there is nothing to lower to, and the votes would stay up between inferences.",
        "Name a power state.",
        mine("relax: unset"),
        mine("relax: {to: relaxed}"),
    ),
    "SUS-3": RuleText(
        "With a sustain time the timer's own thread lowers the votes anyway, never the caller's thread.",
        "Leave lowering out, or state a sustain time of 0.",
        mine("relax: {lowering: background}"),
        mine("relax: {lowering: background, after_inference_us: 0}"),
        lint=("--notes",),
    ),
    "SUS-4": RuleText(
        "No timer keeps a timeout between 0 and 20 ms, so a learnt time is 0, or 20 ms or more. To keep "
        "the bound on its cost it is chosen as if the break-even time were 20 ms.",
        "State 20000 us or more. A smaller value is treated as 20000 us.",
        mine("relax: {after_inference_us: {adaptive: {break_even_us: 5000}}}"),
        mine("relax: {after_inference_us: {adaptive: {break_even_us: 20000}}}"),
        lint=("--notes",),
    ),
    "SUS-5": RuleText(
        "No time is as long as least_us and as short as most_us. If most_us is left out, it is twice the "
        "break-even time, and 10 s with cold_starts.",
        "State a shorter least_us, or a longer most_us.",
        mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, least_us: 300000}}}"),
        mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, least_us: 50000}}}"),
    ),
    "SUS-6": RuleText(
        "A learnt time costs at most twice the best possible cost, plus two break-even times. If limits keep it from "
        "the break-even time, there is no such bound: gaps just longer than it can then cost any multiple.",
        "Let the limits enclose the break-even time.",
        mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, most_us: 50000}}}"),
        mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, most_us: 200000}}}"),
    ),
    "SUS-7": RuleText(
        "A second power state saves what the first still draws. If it is not lower, it draws as much, and costs "
        "a call.",
        "Relax to the higher of the two first, and then to the lower.",
        mine("relax: {to: released, then: {to: relaxed, after_us: 2000000}}"),
        mine("relax: {to: relaxed, then: {to: released, after_us: 2000000}}"),
    ),
    "SUS-8": RuleText(
        "Only options that differ are sent, so a power state with the votes of the previous one makes no call and "
        "saves nothing. A first state with the profile's own votes keeps everything up until the second.",
        "Name another power state, or leave then out.",
        mine("relax: {to: released, then: {to: released, after_us: 2000000}}"),
        mine("relax: {to: relaxed, then: {to: released, after_us: 2000000}}"),
        lint=("--notes",),
    ),
    "SUS-9": RuleText(
        "A raise ahead hides the wait for a raise. If nothing is lowered between inferences, none waits.",
        "Leave it out, or relax to a power state that lowers something.",
        mine("votes: unset\nrelax: {raise_ahead_us: 5000}", "balanced"),
        mine("relax: {raise_ahead_us: 5000}", "balanced"),
        lint=("--notes",),
    ),
}

VOTE_TEXTS = {**HVX_TEXTS, **HMX_TEXTS, **CENG_TEXTS, **NUMBER_TEXTS, **RELAX_TEXTS}
