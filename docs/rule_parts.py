"""The examples of the page of the rules, from the texts of ``htppower explain``, with lint's report on each."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from htppower.profiles.discovery import shipped_folder
from htppower.tools.cli.main import main as command
from htppower.tools.review.explain.texts.file_rules import OTHER_TEXTS
from htppower.tools.review.explain.texts.rule_text import MINE
from htppower.tools.review.explain.texts.vote_rules import VOTE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# As wide as a page shows code.
_LONGEST = 100
_TEXTS = {**VOTE_TEXTS, **OTHER_TEXTS}


def messages(ids: Iterable[str]) -> str:
    """Return each rule with its reason, an example that breaks it, lint's report, and the fix."""
    return "\n\n".join("\n\n".join(_message(rule)) for rule in ids)


def _message(rule: str) -> Iterator[str]:
    text = _TEXTS[rule]
    yield f"#### {rule}"
    yield text.why
    if text.said:
        yield f"{text.said} {text.mend}"
        return
    yield _fenced(text.wrong)
    yield f"```text\n{_found(rule)}\n```"
    changed = _changed(text.wrong, text.right)
    if len(changed) == 1 and len(changed[0]) < _LONGEST:
        yield f"{text.mend} `{changed[0]}`"
    elif changed:
        yield text.mend
        yield "\n".join(("```yaml", *(part for line in changed for part in _broken(line)), "```"))
    else:
        yield text.mend


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


def _found(rule: str) -> str:
    """Return lint's report on the example of a rule, as one line for an editor."""
    text = _TEXTS[rule]
    with _files(text.wrong):
        said = CliRunner().invoke(command, ["lint", ".", "--format", "json", *text.lint])
    findings: list[dict[str, Any]] = json.loads(said.output)["findings"]
    found = next(finding for finding in findings if finding["rule"] == rule)
    place = f"{found['path']}:{found['line']}:{found['column']}"
    hint = f" ({found['hint']})" if found["hint"] else ""
    line = f"{place}: {found['severity']} {rule} {found['message']}{hint}"
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
