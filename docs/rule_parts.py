"""The tables of the rules, and of valid votes; each rule with its example and lint's report on that."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from docs.tables import made_table
from htppower.profiles.discovery import shipped_folder
from htppower.rules import table
from htppower.rules.case import Applied
from htppower.rules.rule import MINE
from htppower.tools.cli.main import main as command
from htppower.tools.review.extension_lint.harm_rules import HARM_RULES
from htppower.tools.review.extension_lint.parser_rules import PARSER_RULES
from htppower.tools.review.lint.catalogue import FILE_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from htppower.rules.rule import Rule

# As wide as a page shows code.
_LONGEST = 100
_EXTENSION_RULES = (*PARSER_RULES, *HARM_RULES)


def messages(rules: Iterable[Rule]) -> str:
    """Return each rule with its reason, an example that breaks it, lint's report, and the fix."""
    return "\n\n".join("\n\n".join(_message(rule)) for rule in rules)


def _message(rule: Rule) -> Iterator[str]:
    yield f"#### {rule.id}"
    yield rule.why
    if rule.said:
        yield f"{rule.said} {rule.mend}"
        return
    yield _fenced(rule.wrong)
    yield f"```text\n{_found(rule)}\n```"
    changed = _changed(rule.wrong, rule.right)
    if len(changed) == 1 and len(changed[0]) < _LONGEST:
        yield f"{rule.mend} `{changed[0]}`"
    elif changed:
        yield rule.mend
        yield "\n".join(("```yaml", *(part for line in changed for part in _broken(line)), "```"))
    else:
        yield rule.mend


def _changed(wrong: Mapping[str, str], right: Mapping[str, str]) -> list[str]:
    """Return the lines that fix an example, without the lines that it has already."""
    return [line for name, text in right.items() for line in text.splitlines() if line not in wrong.get(name, "")]


def _fenced(files: Mapping[str, str]) -> str:
    """Return files as blocks, with their names unless there is only the usual one."""
    named = set(files) != {MINE}
    blocks = []
    for name, text in files.items():
        lines = [f"# {name}" if text else f"# no {name}"] if named else []
        lines += [line for whole in text.splitlines() for line in _broken(whole)]
        blocks.append("\n".join(("```yaml", *lines, "```")))
    return "\n\n".join(blocks)


def _broken(line: str) -> Iterator[str]:
    """Yield a line, broken after commas if it is long."""
    while len(line) > _LONGEST:
        place = line.rindex(", ", 0, _LONGEST) + 1
        yield line[:place]
        line = f"   {line[place:]}"
    yield line


def _found(rule: Rule) -> str:
    """Return lint's report on the example of a rule, as one line for an editor."""
    with _files(rule.wrong):
        said = CliRunner().invoke(command, ["lint", ".", "--format", "json", *rule.lint])
    findings: list[dict[str, Any]] = json.loads(said.output)["findings"]
    found = next(finding for finding in findings if finding["rule"] == rule.id)
    place = f"{found['path']}:{found['line']}:{found['column']}"
    hint = f" ({found['hint']})" if found["hint"] else ""
    line = f"{place}: {found['severity']} {rule.id} {found['message']}{hint}"
    return line.replace(shipped_folder(), "profiles")


@contextlib.contextmanager
def _files(files: Mapping[str, str]) -> Iterator[None]:
    """Run the block in a folder with these files."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _rules() -> str:
    rows = [(f"`{rule.id}`", rule.says, rule.breach.value, rule.source) for rule in table.RULES.values()]
    return made_table(("Id", "Rule", "What follows", "Source"), rows)


def _file_rules() -> str:
    return made_table(("Id", "Rule"), [(f"`{rule.id}`", rule.says) for rule in FILE_RULES])


def _extension_rules() -> str:
    """Return the table of the rules of extension files."""
    rows = [(f"`{rule.id}`", rule.severity.value, rule.says) for rule in _EXTENSION_RULES]
    return made_table(("Id", "Weighs", "Rule"), rows)


def _validity() -> str:
    words = {Applied.APPLIED: "voted", Applied.NONE: "no vote", Applied.REMOVED: "vote removed"}
    default = {True: "yes", False: "no", None: "does not matter"}
    rows = [
        (words[row.hvx], words[row.hmx], default[row.pick_default], "valid" if row.valid else "invalid")
        for row in table.HVX_HMX_VALIDITY
    ]
    return made_table(("HVX", "HMX", "Pick default", "So the id is"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "rules": _rules,
    "rule-messages": lambda: messages(table.RULES.values()),
    "file-rules": _file_rules,
    "file-messages": lambda: messages(FILE_RULES),
    "extension-rules": _extension_rules,
    "extension-messages": lambda: messages(_EXTENSION_RULES),
    "validity": _validity,
}
