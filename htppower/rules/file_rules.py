"""The rules of files: what the readers in ``htppower.profiles`` refuse, whatever the votes are."""

from __future__ import annotations

from htppower.rules.rule import Breach, Family, Rule


def _rule(rule_id: str, family: Family, says: str) -> Rule:
    return Rule(rule_id, says, Breach.ERROR, "the format of profile files", family=family)


FILE_RULES = (
    _rule("FILE-1", Family.FILE, "The file can be read."),
    _rule("FILE-2", Family.FILE, "The file is at most 1 MiB."),
    _rule("FILE-3", Family.FILE, "The file is UTF-8."),
    _rule("JSON-1", Family.FILE, "A vendor's file is well-formed JSON without extensions, at most 100 levels deep."),
    _rule("YAML-1", Family.YAML, "The file is well-formed YAML, at most 20 levels deep, and holds one mapping."),
    _rule("YAML-2", Family.YAML, "No key is given twice."),
    _rule(
        "YAML-3",
        Family.YAML,
        "No word is one that YAML 1.1 and 1.2 read differently, such as `on`, `010` or `12:30:45`.",
    ),
    _rule("YAML-4", Family.YAML, "Aliases are defined, expand to at most 2000 values, and do not contain themselves."),
    _rule("YAML-5", Family.YAML, "There are no tags and no merge keys."),
    _rule("KEY-1", Family.SCHEMA, "Every key is known to the format, and does not exclude another given key."),
    _rule("KEY-2", Family.SCHEMA, "Every required field is stated, or inherited by `extends`."),
    _rule("TYPE-1", Family.SCHEMA, "Every value is of its field's type."),
    _rule(
        "VALUE-1", Family.SCHEMA, "Every word is one that its field allows, and every number is in its field's range."
    ),
    _rule("NAME-1", Family.SCHEMA, "The named profile, power state or device model exists."),
    _rule("EXT-1", Family.SCHEMA, "`extends` has no cycle."),
)
