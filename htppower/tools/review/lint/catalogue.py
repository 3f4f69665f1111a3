"""Every rule that a finding can name, by its id, and the records of the rules that are about whole files.

These are what the readers of files refuse, whatever the votes are; the rules of suppressions; and of device models.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from htppower.rules.rule import MINE, Breach, Family, Rule, mine, my_votes, rules_in
from htppower.rules.table import RULES
from htppower.tools.review.extension_lint.harm_rules import HARM_RULES
from htppower.tools.review.extension_lint.parser_rules import PARSER_RULES
from htppower.tools.review.lint import review_rules
from htppower.tools.review.settings_rules import SETTINGS_RULES
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.errors import Finding, KeyPath

_FAMILIES = {"FILE": Family.FILE, "JSON": Family.FILE, "YAML": Family.YAML}
_POLLS = "extends: low_balanced\nvotes: {rpc_polling_time_us: 100}\n"


def _suppressed(comment: str, lines: str = f"profile: mine\n{_POLLS}") -> dict[str, str]:
    return {MINE: f"# htppower: {comment}\n{lines}"}


def _stated(*left_out: str) -> dict[str, str]:
    """Return a profile that extends nothing and states every field without a vote, except these."""
    required = (about.field for about in VOTE_OPTIONS.values() if not about.optional)
    votes = "".join(f"  {field}: unset\n" for field in required if field not in left_out)
    return {MINE: f"profile: mine\nsummary: Mine.\nvotes:\n{votes}relax: unset\n"}


def _rule(rule_id: str, says: str, **more: Any) -> Rule:
    family = _FAMILIES.get(rule_id.partition("-")[0], Family.SCHEMA)
    return Rule(rule_id, says, Breach.ERROR, "the format of profile files", family=family, **more)


def _suppression(rule_id: str, says: str, **more: Any) -> Rule:
    return Rule(rule_id, says, Breach.ERROR, "a reviewer's question", family=Family.SUPPRESSION, **more)


FILE_RULES = (
    _rule(
        "FILE-1",
        "The file can be read.",
        why="A file that is missing, is a folder, or may not be read has no votes to check.",
        mend="Check the path, and who may read the file.",
        said="htppower lint no_such_file.yaml",
    ),
    _rule(
        "FILE-2",
        "The file is at most 1 MiB.",
        why="A profile has some 40 lines. A file this large is something else, and would take long to read.",
        mend="Name the profile.",
        said="A file of 2 MiB.",
    ),
    _rule(
        "FILE-3",
        "The file is UTF-8.",
        why="In another encoding the same bytes are other letters, so readers would not agree on the content.",
        mend="Save the file as UTF-8.",
        said="A file saved as Latin-1.",
    ),
    _rule(
        "JSON-1",
        "A vendor's file is well-formed JSON without extensions, at most 100 levels deep.",
        why=(
            "The vendor's parser accepts no comments, no trailing commas, no byte order mark and no NaN. It refuses "
            "the whole file, and the run continues without any vote."
        ),
        mend="Write plain JSON: keys and texts in double quotes, and commas only between two values.",
        said="htppower import notes.txt",
    ),
    _rule(
        "YAML-1",
        "The file is well-formed YAML, at most 20 levels deep, and holds one mapping.",
        why="A file that can't be read to its end can't be reviewed: the part after the fault may mean anything.",
        mend="Write key: value, with a space after the colon, and indent with spaces.",
        wrong={MINE: "profile: [mine\n"},
        right={MINE: "profile: mine\nextends: burst\n"},
    ),
    _rule(
        "YAML-2",
        "No key is given twice.",
        why="Most readers silently take the later value, and reviewers the first one that they see.",
        mend="Keep one of them.",
        wrong=mine("summary: One.\nsummary: Two."),
        right=mine("summary: One."),
    ),
    _rule(
        "YAML-3",
        "No word is one that YAML 1.1 and 1.2 read differently, such as `on`, `010` or `12:30:45`.",
        why=(
            "YAML 1.1 reads on as true and 010 as 8; YAML 1.2 reads on as a word and 010 as 10. The vote would depend "
            "on the reader."
        ),
        mend="Write true or false; write numbers without leading zeros, and quote words that look like either.",
        wrong=my_votes("dcvs_v3: {dcvs_enable: on}"),
        right=my_votes("dcvs_v3: {dcvs_enable: true}"),
    ),
    _rule(
        "YAML-4",
        "Aliases are defined, expand to at most 2000 values, and do not contain themselves.",
        why="An alias to nothing, or to itself, has no value; an alias that expands without end exhausts the memory.",
        mend="Write the value out.",
        wrong=mine("votes: &a {dcvs_v3: *a}"),
        right=my_votes("dcvs_v3: {core: TURBO}"),
    ),
    _rule(
        "YAML-5",
        "There are no tags and no merge keys.",
        why="Tags build values of the reader's choice, and merge keys hide where a value comes from.",
        mend="Use extends: NAME, which shows where each value was written.",
        wrong=mine("votes: &base {hmx_v2: default}\nrelax: {<<: *base}"),
        right=my_votes("hmx_v2: default"),
    ),
    _rule(
        "KEY-1",
        "Every key is known to the format, and does not exclude another given key.",
        why="A misspelt key would be silently ignored, and the vote would keep its old value.",
        mend="Write the intended key; a finding names the nearest. If two keys exclude each other, leave one out.",
        wrong=my_votes("dcvs_v3: {sleep_latency: 40}"),
        right=my_votes("dcvs_v3: {sleep_latency_us: 40}"),
    ),
    _rule(
        "KEY-2",
        "Every required field is stated, or inherited by `extends`.",
        why=(
            "A field that a profile leaves out keeps the value of the previous profile. So a field without a vote must"
            " be visible, as unset."
        ),
        mend="State every field, or extend a profile that does.",
        wrong=_stated("hmx_timeout_us"),
        right=_stated(),
    ),
    _rule(
        "TYPE-1",
        "Every value is of its field's type.",
        why="A number in quotes is a word, not a number of microseconds.",
        mend="Write a value of the field's type.",
        wrong=my_votes('rpc_polling_time_us: "9999"'),
        right=my_votes("rpc_polling_time_us: 9999"),
    ),
    _rule(
        "VALUE-1",
        "Every word is one that its field allows, and every number is in its field's range.",
        why="An unknown corner or mode has no number to send.",
        mend="Write one of the field's words; a finding names the nearest.",
        wrong=my_votes("dcvs_v3: {bus: TURB}"),
        right=my_votes("dcvs_v3: {bus: TURBO}"),
    ),
    _rule(
        "NAME-1",
        "The named profile, power state or device model exists.",
        why="If a name leads nowhere, it is unknown what is inherited, or what the votes are lowered to.",
        mend="Write a name that exists; htppower list has the profiles.",
        wrong=mine("relax: {to: relax}"),
        right=mine("relax: {to: relaxed}"),
    ),
    _rule(
        "EXT-1",
        "`extends` has no cycle.",
        why="If files extend each other, no file has the first value.",
        mend="Extend a profile that does not extend this one.",
        wrong={MINE: "profile: mine\nextends: ./other.yaml\n", "other.yaml": "profile: other\nextends: ./mine.yaml\n"},
        right={"other.yaml": "profile: other\nextends: burst\n"},
    ),
)

SUPPRESSION_RULES = (
    _suppression(
        "SUP-1",
        "A suppression names rules that can be suppressed, a date and a reason.",
        why="A suppression without a reason or an end stays after its reason is forgotten.",
        mend="State the rules, the last day and the reason.",
        wrong=_suppressed("disable=RPC-6 until=2099-12-31"),
        right=_suppressed("disable=RPC-6 until=2099-12-31 because=the host sleeps in between"),
    ),
    _suppression(
        "SUP-2",
        "A suppression has not expired.",
        why="The date for another look has come.",
        mend="Mend the cause of the finding, or state a new last day and a reason.",
        wrong=_suppressed("disable=RPC-6 until=2026-01-31 because=the host sleeps in between"),
        right=_suppressed("disable=RPC-6 until=2099-12-31 because=the host sleeps in between"),
    ),
    _suppression(
        "SUP-3",
        "A suppression matches a finding.",
        why="A suppression of nothing hides the next breach of that rule.",
        mend="Delete it.",
        wrong=_suppressed("disable=RPC-6 until=2099-12-31 because=the host sleeps", "profile: mine\nextends: burst\n"),
        right={MINE: "profile: mine\nextends: burst\n"},
    ),
)

MODEL_RULES = (
    Rule(
        "MODEL-1",
        "The power draw never rises from work to idle with votes up, to relaxed, to released.",
        Breach.WARNING,
        "HAP_power: votes keep clocks up",
        why="If lowering saves no power in the model, it never pays, and all advice from the model is to stay up.",
        mend="Measure the power again, or correct the value.",
        said="A device model with more power in raised_idle_w than in active_w.",
        family=Family.DEVICE,
    ),
)


CATALOGUE = {
    rule.id: rule
    for rule in (
        *FILE_RULES,
        *RULES.values(),
        *sorted(rules_in(review_rules), key=attrgetter("id")),
        *SUPPRESSION_RULES,
        *SETTINGS_RULES,
        *PARSER_RULES,
        *HARM_RULES,
        *MODEL_RULES,
    )
}


def expected(finding: Finding) -> str:
    """Return what the rule of a finding expects; empty for a rule that summarizes findings of many rules."""
    return "" if finding.left_out else CATALOGUE[finding.rule].says


def rules_on(*fields: KeyPath) -> tuple[str, ...]:
    """Return the ids of the rules about any of these fields; a field is given by its path of keys in a file."""
    wanted = set(fields)
    return tuple(rule.id for rule in CATALOGUE.values() if not wanted.isdisjoint(rule.fields))
