"""Make the parts of the pages that repeat what the code or the shipped profiles say.

python -m docs.generate            write them into the pages
python -m docs.generate --check    exit 1 where a page says something else

A part stands between the comments ``% begin NAME`` and ``% end NAME`` of a page. Pictures are files of their own.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from click.testing import CliRunner

from docs import (
    dashboard,
    metric_parts,
    model_parts,
    profile_parts,
    review_parts,
    rule_parts,
    settings_parts,
    trace_parts,
    vote_path,
    voter_parts,
)
from docs.docstrings import attributes
from docs.tables import in_code, made_table
from htppower import events
from htppower.cli.main import main as command
from htppower.cli.man_pages import man_pages
from htppower.control import state_machine
from htppower.control.status.controller_status import ControllerStatus, ProcessSetting, SessionStatus
from htppower.control.status.cores import CoreStatus
from htppower.control.status.json_form import STATUS, described
from htppower.hosts.qnn_modes import modes, provider_options
from htppower.profiles.discovery import shipped_folder
from htppower.profiles.field_limits import tags
from htppower.profiles.fields import spell, vote_fields
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.review.advice.rules import ADVICE_RULES
from htppower.review.explain.texts.codes import CODE_TEXTS
from htppower.review.json_schema.schema import said_of, said_of_fields
from htppower.review.vote_tests.fields import ExpectFields, StepFields
from htppower.rules import table as rules
from htppower.rules.case import Applied
from htppower.rules.extension_rules import EXTENSION_RULES
from htppower.rules.file_rules import FILE_RULES
from htppower.votes.native_codes import SUCCESS, code_name, known_codes, what_to_do

if TYPE_CHECKING:
    from collections.abc import Callable


DOCS = Path(__file__).parent
_PART = re.compile(r"^% begin (?P<name>[\w-]+)\n.*?^% end (?P=name)$", re.MULTILINE | re.DOTALL)


def page(text: str) -> str:
    """Return a page with its generated parts made anew."""
    return _PART.sub(_part, text)


def _part(found: re.Match[str]) -> str:
    name = found["name"]
    return f"% begin {name}\n\n{_PARTS[name]()}\n\n% end {name}"


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` compare them; return the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    stale = []
    pages = [(path, page) for path in sorted(DOCS.glob("*.md"))]
    for path, make in (*pages, *((DOCS / name, make) for name, make in _FILES.items())):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        made = make(text)
        if made != text and arguments:
            stale.append(path.name)
        elif made != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(made, encoding="utf-8")
    if stale:
        sys.stderr.write(f"{', '.join(stale)}: not what the code says; run python -m docs.generate\n")
    return 1 if stale else 0


def _provider_balanced() -> str:
    made = provider_options("balanced")
    return "\n".join(("```text", str(made.options), *map(str, made.unexpressed), "```"))


def _provider_modes() -> str:
    """Return what ONNX Runtime's provider votes, by mode."""
    rows = []
    for name, votes in modes().items():
        fields = {at[-1]: spell(value) for at, value in vote_fields(votes)}
        shown = ("core", "dcvs_enable", "power_mode", "sleep_latency_us", "rpc_polling_time_us")
        cells = (fields[each].replace("unset", "no vote") for each in shown)
        rows.append((f"`{name}`", *(cells if votes else ("no votes", "", "", "", ""))))
    return made_table(
        ("Mode", "Bus and core corners", "DCVS", "Power mode", "Sleep latency, us", "RPC polling, us"), rows
    )


def _provider_options() -> str:
    """Return every profile as options of ONNX Runtime's provider, with what they can't express but for relaxing."""
    rows = []
    for name in SHIPPED_PROFILES:
        made = provider_options(name)
        lost = [each for each in made.unexpressed if each.field[0] != "relax"]
        rows.append(
            (
                f"`{name}`",
                ", ".join(f"`{option}={value}`" for option, value in made.options.items()),
                ", ".join(f"`{each.field[-1]}: {each.says}` ({each.instead})" for each in lost) or "nothing",
            )
        )
    return made_table(
        ("Profile", "Options", "What they can't express, beside the relaxing (what the provider does)"), rows
    )


def _rules() -> str:
    rows = [(f"`{rule.id}`", rule.says, rule.breach.value, rule.source) for rule in rules.RULES.values()]
    return made_table(("Id", "Rule", "What follows", "Source"), rows)


def _file_rules() -> str:
    return made_table(("Id", "Rule"), [(f"`{rule.id}`", rule.says) for rule in FILE_RULES])


def _extension_rules() -> str:
    """Return the table of the rules of extension files."""
    rows = [(f"`{rule.id}`", rule.severity.value, rule.says) for rule in EXTENSION_RULES]
    return made_table(("Id", "Weighs", "Rule"), rows)


def _vote_path() -> str:
    """Return the stages of a vote's way, for who reads the page without its pictures."""
    return "\n".join(f"1. `{stage.file}`: {stage.does}." for stage in vote_path.stages())


def _validity() -> str:
    words = {Applied.APPLIED: "voted", Applied.NONE: "no vote", Applied.REMOVED: "vote removed"}
    default = {True: "yes", False: "no", None: "does not matter"}
    rows = [
        (words[row.hvx], words[row.hmx], default[row.pick_default], "valid" if row.valid else "invalid")
        for row in rules.HVX_HMX_VALIDITY
    ]
    return made_table(("HVX", "HMX", "Pick default", "So the id is"), rows)


def _states() -> str:
    return made_table(("State", "Meaning"), [(f"`{state}`", said) for state, said in state_machine.MEANINGS.items()])


def _transitions() -> str:
    rows = [
        (f"`{row.trigger}`", ", ".join(f"`{state}`" for state in row.sources), f"`{row.dest}`", row.meaning)
        for row in state_machine.TRANSITIONS
    ]
    return made_table(("Transition", "From", "To", "What is done"), rows)


def _causes() -> str:
    return ", ".join(f"`{cause}`" for cause in events.Cause)


def _events() -> str:
    """Return every kind of event with when it happens, and the fields that it adds."""
    common = {field.name for field in attrs.fields(events.Event)}
    rows = []
    # The class before attrs gave it slots may still be there: the later one of a name counts.
    for kind in {kind.__name__: kind for kind in events.Event.__subclasses__()}.values():
        said = (inspect.getdoc(kind) or "").partition("\n\n")[0]
        own = in_code(*(field.name for field in attrs.fields(kind) if field.name not in common))
        rows.append((f"`{kind.__name__}`", " ".join(said.replace("``", "`").split()).rstrip("."), own))
    return made_table(("Event", "When", "Fields of its own"), rows)


def _codes() -> str:
    """Return the native codes with when they come and what to do, as errors and ``htppower explain`` say it."""
    rows = []
    for code in known_codes():
        if code != SUCCESS:
            name = code_name(code).partition("_ERROR_")[2]
            rows.append((f"**{code}** `{name}`", CODE_TEXTS[code].why, f"{what_to_do(code)}"))
    return made_table(("Code", "When", "What to do"), rows)


def _attributes(kind: type[Any]) -> str:
    """Return a class's fields with what its docstring says of each."""
    return made_table(("Field", "Meaning"), [(in_code(*names), meaning) for names, meaning in attributes(kind)])


def _run(*arguments: str) -> str:
    """Return what the command prints, with paths as a reader has them."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(command, [*arguments])
    shipped, own = str(shipped_folder()), str(DOCS / "examples")
    output = result.output.replace(shipped, "profiles").replace(f"{own}/", "").replace("docs/examples/", "")
    return output.rstrip()


def _console(*arguments: str, words: tuple[str, ...] | None = None, only: str = "") -> str:
    said = _run(*(words or arguments))
    if only:
        said = "\n".join(line for line in said.splitlines() if line.startswith(only))
    return f"```console\n$ htppower {' '.join(arguments)}\n{said}\n```"


def _failing_test() -> str:
    """Return what a test says of a profile that was changed, and its test not."""
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder) / "my-profiles"
        shutil.copytree(DOCS / "examples", mine, ignore=shutil.ignore_patterns("*.py"))
        camera = mine / "camera.yaml"
        text = camera.read_text(encoding="utf-8")
        for old, new in (("bus: TURBO", "bus: NOM"), ("after_inference_us: 100000", "after_inference_us: 150000")):
            if old not in text:
                raise ValueError(f"no {old!r} in camera.yaml")
            text = text.replace(old, new)
        camera.write_text(text, encoding="utf-8")
        return _console("test", "my-profiles", words=("test", str(mine))).replace(f"{folder}/", "")


def _steps() -> str:
    rows = []
    for tag, kind in tags(StepFields).items():
        said = said_of_fields(kind)
        when = "yes" if "at_us" in said else "no"
        rows.append((f"`{tag}`", said_of(kind), said[tag], when))
    return made_table(("Step", "What happens", "Value", "`at_us`"), rows)


def _expectations() -> str:
    return made_table(
        ("Field", "What is looked at"), [(f"`{name}`", said) for name, said in said_of_fields(ExpectFields).items()]
    )


def _json() -> str:
    report = json.loads(_run("profile", "burst", "--dry-run", "--format", "json"))
    created, raised, *_ = report["calls"]
    raised["configs"] = [config for config in raised["configs"] if config["option"] != "HMX_V2"][:2]
    report["calls"] = [created, raised]
    return f"```json\n{json.dumps(report, indent=2)}\n```"


def _advice_rules() -> str:
    rows = [
        (f"`{rule.id}`", rule.says, rule.looks_at, rule.mend, f"{rule.basis}: {rule.source}")
        for rule in ADVICE_RULES.values()
    ]
    return made_table(("Id", "It says", "It looks at", "What to do", "Source"), rows)


def _advised() -> str:
    """Return the advice on the file of the page."""
    options = ("--soc", "SM8750", "--profile", "burst")
    said = _console("advise", "sm8750.json", *options, words=("advise", str(_MEASURED), *options))
    return said.replace(str(_MEASURED), _MEASURED.name)


_MEASURED = DOCS / "measurements" / "sm8750.json"
_CAMERA = str(DOCS / "examples" / "camera.yaml")
_PARTS: dict[str, Callable[[], str]] = {
    "vote-path": _vote_path,
    "provider-balanced": _provider_balanced,
    "provider-modes": _provider_modes,
    "provider-options": _provider_options,
    "rules": _rules,
    "rule-messages": lambda: rule_parts.messages(rules.RULES),
    "file-rules": _file_rules,
    "advice-rules": _advice_rules,
    "advise-example": _advised,
    "file-messages": lambda: rule_parts.messages(rule.id for rule in FILE_RULES),
    "extension-rules": _extension_rules,
    "extension-messages": lambda: rule_parts.messages(rule.id for rule in EXTENSION_RULES),
    "validity": _validity,
    "states": _states,
    "transitions": _transitions,
    "causes": _causes,
    "codes": _codes,
    "events": _events,
    "controller-status": lambda: _attributes(ControllerStatus),
    "session-status": lambda: _attributes(SessionStatus),
    "core-status": lambda: _attributes(CoreStatus),
    "process-setting": lambda: _attributes(ProcessSetting),
    "status-json": lambda: made_table(("Field", "Meaning"), [(f"`{name}`", said) for name, said in described(STATUS)]),
    "show-camera": lambda: _console("show", "camera.yaml", words=("show", _CAMERA)),
    "dry-run": lambda: _console("profile", "burst", "--dry-run"),
    "dry-run-qnx": lambda: _console("profile", "burst", "--dry-run", "--platform", "qnx", only="degraded"),
    "dry-run-json": _json,
    "steps": _steps,
    "expectations": _expectations,
    "test-camera": lambda: _console("test", "my-profiles", words=("test", str(DOCS / "examples"))),
    "test-camera-failing": _failing_test,
    "test-camera-coverage": lambda: _console(
        "test", "my-profiles", "--coverage", words=("test", str(DOCS / "examples"), "--coverage")
    ),
    **metric_parts.PARTS,
    **model_parts.PARTS,
    **profile_parts.PARTS,
    **review_parts.PARTS,
    **settings_parts.PARTS,
    **trace_parts.PARTS,
    **voter_parts.PARTS,
}
# Made whole, whatever the file says now.
_FILES: dict[str, Callable[[str], str]] = {
    **{f"man/{name}": functools.partial(lambda text, _: text, text) for name, text in man_pages().items()},
    "monitoring/dashboard.json": lambda _: dashboard.text(),
    "trace.svg": lambda _: trace_parts.picture(),
    "burst.svg": lambda _: f"{_run('profile', 'burst', '--dry-run', '--format', 'svg')}\n",
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
