"""The texts of the rules on files, of review and of suppressions: why, an example of a breach, the mend."""

from __future__ import annotations

from htppower.tools.review.explain.texts.extension_rules import EXTENSION_TEXTS
from htppower.tools.review.explain.texts.model_texts import MODEL_TEXTS
from htppower.tools.review.explain.texts.rule_text import MINE, RuleText, mine, votes
from htppower.tools.review.explain.texts.settings_texts import SETTINGS_TEXTS

_POLLS = "extends: low_balanced\nvotes: {rpc_polling_time_us: 100}\n"
_STATE = "states/low.yaml"
_LOW = {_STATE: "state: low\nextends: relaxed\n", MINE: "profile: mine\nextends: burst\nrelax: {to: low}\n"}


def _suppressed(comment: str, lines: str = f"profile: mine\n{_POLLS}") -> dict[str, str]:
    return {MINE: f"# htppower: {comment}\n{lines}"}


_COMPLETE = (
    "profile: mine\nsummary: Mine.\nvotes:\n  dcvs_v3: unset\n  hmx_v2: unset\n  rpc_control_latency_us: unset\n"
    "  rpc_polling_time_us: unset\n  adaptive_polling_time_us: unset\n"
)

FILE_TEXTS = {
    "FILE-1": RuleText(
        "A file that is missing, is a folder, or may not be read has no votes to check.",
        "Check the path, and who may read the file.",
        said="htppower lint no_such_file.yaml",
    ),
    "FILE-2": RuleText(
        "A profile has some 40 lines. A file this large is something else, and would take long to read.",
        "Name the profile.",
        said="A file of 2 MiB.",
    ),
    "FILE-3": RuleText(
        "In another encoding the same bytes are other letters, so readers would not agree on the content.",
        "Save the file as UTF-8.",
        said="A file saved as Latin-1.",
    ),
    "JSON-1": RuleText(
        "The vendor's parser takes no comments, no trailing commas, no byte order mark and no NaN. It refuses the "
        "whole file, and the run goes on without any vote.",
        "Write plain JSON: keys and texts in double quotes, and commas only between two values.",
        said="htppower import notes.txt",
    ),
    "YAML-1": RuleText(
        "A file that can't be read to its end can't be reviewed: the part after the fault may mean anything.",
        "Write key: value, with a space after the colon, and indent with spaces.",
        {MINE: "profile: [mine\n"},
        {MINE: "profile: mine\nextends: burst\n"},
    ),
    "YAML-2": RuleText(
        "Most readers silently take the later value, and reviewers the first one that they see.",
        "Keep one of them.",
        mine("summary: One.\nsummary: Two."),
        mine("summary: One."),
    ),
    "YAML-3": RuleText(
        "YAML 1.1 reads on as true and 010 as 8; YAML 1.2 reads on as a word and 010 as 10. The vote "
        "would depend on the reader.",
        "Write true or false; write numbers without leading zeros, and quote words that look like either.",
        votes("dcvs_v3: {dcvs_enable: on}"),
        votes("dcvs_v3: {dcvs_enable: true}"),
    ),
    "YAML-4": RuleText(
        "An alias to nothing, or to itself, has no value; an alias that expands without end exhausts the memory.",
        "Write the value out.",
        mine("votes: &a {dcvs_v3: *a}"),
        votes("dcvs_v3: {core: TURBO}"),
    ),
    "YAML-5": RuleText(
        "Tags build values of the reader's choice, and merge keys hide where a value comes from.",
        "Use extends: NAME, which shows where each value was written.",
        mine("votes: &base {hmx_v2: default}\nrelax: {<<: *base}"),
        votes("hmx_v2: default"),
    ),
    "KEY-1": RuleText(
        "A misspelt key would be silently ignored, and the vote would keep its old value.",
        "Write the intended key; a finding names the nearest. If two keys exclude each other, leave one out.",
        votes("dcvs_v3: {sleep_latency: 40}"),
        votes("dcvs_v3: {sleep_latency_us: 40}"),
    ),
    "KEY-2": RuleText(
        "A field that a profile leaves out keeps the value of the previous profile. So a field without a vote must "
        "be visible, as unset.",
        "State every field, or extend a profile that does.",
        {MINE: f"{_COMPLETE}  ddr_perf_mode: unset\nrelax: unset\n"},
        {MINE: f"{_COMPLETE}  hmx_timeout_us: unset\n  ddr_perf_mode: unset\nrelax: unset\n"},
    ),
    "TYPE-1": RuleText(
        "A number in quotes is a word, not a number of microseconds.",
        "Write a value of the field's type.",
        votes('rpc_polling_time_us: "9999"'),
        votes("rpc_polling_time_us: 9999"),
    ),
    "VALUE-1": RuleText(
        "An unknown corner or mode has no number to send.",
        "Write one of the field's words; a finding names the nearest.",
        votes("dcvs_v3: {bus: TURB}"),
        votes("dcvs_v3: {bus: TURBO}"),
    ),
    "NAME-1": RuleText(
        "If a name leads nowhere, it is unknown what is inherited, or what the votes are lowered to.",
        "Write a name that exists; htppower list has the profiles.",
        mine("relax: {to: relax}"),
        mine("relax: {to: relaxed}"),
    ),
    "EXT-1": RuleText(
        "If files extend each other, no file has the first value.",
        "Extend a profile that does not extend this one.",
        {MINE: "profile: mine\nextends: ./other.yaml\n", "other.yaml": "profile: other\nextends: ./mine.yaml\n"},
        {"other.yaml": "profile: other\nextends: burst\n"},
    ),
}

REVIEW_TEXTS = {
    "REV-1": RuleText(
        "Profiles of one folder are used in turn. A value that one sets and the next leaves unset looks like a vote of "
        "the next, but is not.",
        "State it in every profile of the folder, or in none.",
        {
            MINE: "profile: mine\nextends: burst\n",
            "other.yaml": "profile: other\nextends: burst\nvotes: {hmx_timeout_us: 500}\n",
        },
        votes("hmx_timeout_us: 500"),
    ),
    "REV-2": RuleText(
        "Hosts choose profiles by the vendor's order. A profile that costs more than the next above it turns that "
        "choice around.",
        "Lower the vote, or extend a higher profile.",
        votes("dcvs_v3: {core: TURBO}", "low_balanced"),
        votes("dcvs_v3: {core: NOM}", "low_balanced"),
    ),
    "REV-3": RuleText(
        "A power state that leaves a clock as high as the profile's votes saves nothing between inferences.",
        "Relax to a power state below the votes.",
        mine("relax: {to: relaxed}", "low_power_saver"),
        mine("relax: {to: released}", "low_power_saver"),
    ),
    "REV-4": RuleText(
        "Polling keeps a CPU core busy, and between inferences there is nothing to wait for.",
        "State 0.",
        {**_LOW, _STATE: f"{_LOW[_STATE]}votes: {{rpc_polling_time_us: 100}}\n"},
        {_STATE: f"{_LOW[_STATE]}votes: {{rpc_polling_time_us: 0}}\n"},
    ),
    "REV-5": RuleText(
        "Changes of an unused power state have no effect, or a profile fails to use it by mistake.",
        "Relax to it, or delete it.",
        {**_LOW, MINE: "profile: mine\nextends: burst\n"},
        {MINE: _LOW[MINE]},
    ),
    "REV-6": RuleText(
        "Names are looked up by file, so looking up the name in the file does not find it.",
        "Give the file and the profile the same name.",
        {"camera.yaml": "profile: mine\nextends: burst\n"},
        {"camera.yaml": "profile: camera\nextends: burst\n"},
    ),
    "REV-7": RuleText(
        "The first file of a name is used. This file is reviewed, but never used by its name.",
        "Give it a name that no other file has.",
        {"burst.yaml": "profile: burst\nextends: balanced\n"},
        {"burst.yaml": "", "my_burst.yaml": "profile: my_burst\nextends: balanced\n"},
    ),
    "REV-8": RuleText(
        "Votes that stay up for seconds without an inference drain the battery; the vendor's tools use 300 ms.",
        "State 10000000 us or less.",
        mine("relax: {after_inference_us: 60000000}"),
        mine("relax: {after_inference_us: 300000}"),
    ),
}

SUPPRESSION_TEXTS = {
    "SUP-1": RuleText(
        "A suppression without a reason or an end stays after its reason is forgotten.",
        "State the rules, the last day and the reason.",
        _suppressed("disable=RPC-6 until=2099-12-31"),
        _suppressed("disable=RPC-6 until=2099-12-31 because=the host sleeps in between"),
    ),
    "SUP-2": RuleText(
        "The date for another look has come.",
        "Mend the cause of the finding, or state a new last day and a reason.",
        _suppressed("disable=RPC-6 until=2026-01-31 because=the host sleeps in between"),
        _suppressed("disable=RPC-6 until=2099-12-31 because=the host sleeps in between"),
    ),
    "SUP-3": RuleText(
        "A suppression of nothing hides the next breach of that rule.",
        "Delete it.",
        _suppressed("disable=RPC-6 until=2099-12-31 because=the host sleeps", "profile: mine\nextends: burst\n"),
        {MINE: "profile: mine\nextends: burst\n"},
    ),
}

OTHER_TEXTS = {
    **FILE_TEXTS,
    **REVIEW_TEXTS,
    **SUPPRESSION_TEXTS,
    **SETTINGS_TEXTS,
    **EXTENSION_TEXTS,
    **MODEL_TEXTS,
}
