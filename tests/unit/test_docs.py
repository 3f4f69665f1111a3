"""The documentation matches the code, and its examples run."""

from __future__ import annotations

import inspect
import re
from typing import Any

import attrs
import click
import pytest
import yaml
from support.checkout import ROOT, load_page_code
from support.shipped import shipped_folder

from docs.control_parts import json_fields
from htppower import control, events
from htppower.control.status.controller_status import ControllerStatus, ProcessSetting, SessionStatus
from htppower.control.status.cores import CoreStatus
from htppower.control.status.document import STATUS
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.rules.case import Applied
from htppower.rules.table import HVX_HMX_VALIDITY, RULES
from htppower.tools.cli import main as entry
from htppower.tools.cli.help import Command
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.native_codes import code_name

DOCS = ROOT / "docs"
PACKAGE = ROOT / "htppower"

_RULE_ID = re.compile(r'"((?:FILE|YAML|KEY|TYPE|VALUE|NAME|EXT)-\d+)"')


def read(name: str) -> str:
    """Return a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """Return the cells of every table row of a page, without Markdown's code marks."""
    return [
        [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]


def test_the_picture_shows_every_state_and_transition() -> None:
    """Each state and each trigger is a text in the picture."""
    words = set(re.findall(r"<text[^>]*>([^<]*)</text>", read("state_machine.svg")))
    assert {state.value for state in events.State} <= words
    assert {trigger.value for trigger in events.Trigger} <= words


def test_the_page_of_the_core_has_the_way_of_a_vote_as_the_package_says_it() -> None:
    """The page lists the files in the docstring of the package, and these files exist."""
    modules = {path.stem for path in (PACKAGE / "control").rglob("*.py")}
    said = (inspect.getdoc(control) or "").partition("The way of a vote:")[2].partition("\n\n")[0]
    named = set(re.findall(r"``(\w+)``", said))
    (drawn,) = re.findall(
        r"^## The way of a vote\n.*?```none\n(.*?)```", read("state_machine.md"), re.DOTALL | re.MULTILINE
    )
    assert named <= modules
    words = set(re.findall(r"\w+", drawn))
    assert named <= words
    assert {word for word in words if "_" in word} <= named


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_the_profiles_table_is_the_shipped_yaml(name: str) -> None:
    """A profile's row equals its YAML file, read without htppower."""
    shipped = yaml.safe_load((shipped_folder() / f"{name}.yaml").read_text(encoding="utf-8"))
    (row,) = (row for row in rows(read("profiles.md")) if row[0] == name)
    if shipped["votes"] == "unset":
        assert row == [name, "no votes", "", "", "", ""]
        return
    votes, relax = shipped["votes"], shipped["relax"]
    assert votes["dcvs_v3"]["bus"] == votes["dcvs_v3"]["core"]
    assert row == [
        name,
        votes["dcvs_v3"]["core"],
        str(votes["dcvs_v3"]["sleep_latency_us"]),
        str(votes["rpc_polling_time_us"]),
        relax["to"],
        str(relax["after_inference_us"]),
    ]


def test_the_profiles_page_names_every_field_and_file() -> None:
    """The page names each shipped profile and power state, and each field of their files."""
    page = read("profiles.md")
    for file in (*shipped_folder().glob("*.yaml"), *shipped_folder().glob("states/*.yaml")):
        assert f"`{file.stem}`" in page
        for key in re.findall(r"^ *(\w+):", file.read_text(encoding="utf-8"), re.MULTILINE):
            assert f"{key}`" in page, key


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_the_rules_page_says_what_a_rule_says(rule: Any) -> None:
    """A rule's row has its id, its text, its effect and its source."""
    (row,) = (row for row in rows(read("rules.md")) if row[0] == rule.id)
    assert row == [rule.id, rule.says, rule.breach.value, rule.source]


def test_the_rules_page_names_every_rule_of_files() -> None:
    """Every id of the loader has a row on the page, a reason, an example and a mend."""
    reported = {
        rule_id
        for path in (PACKAGE / "profiles").glob("*.py")
        for rule_id in _RULE_ID.findall(path.read_text(encoding="utf-8"))
    }
    page = read("rules.md")
    assert reported == {row[0] for row in rows(page) if _RULE_ID.fullmatch(f'"{row[0]}"')}
    for rule_id in reported:
        _, _, section = page.partition(f"\n#### {rule_id}\n\n")
        told = section.partition("\n#### ")[0]
        assert CATALOGUE[rule_id].why in told
        assert CATALOGUE[rule_id].mend in told
        if CATALOGUE[rule_id].wrong:
            assert f" error {rule_id} " in told


def test_the_rules_page_has_the_validity_table() -> None:
    """The table of HVX and HMX votes equals the code's."""
    words = {Applied.APPLIED: "voted", Applied.NONE: "no vote", Applied.REMOVED: "vote removed"}
    said = [row for row in rows(read("rules.md")) if row[-1] in ("valid", "invalid")]
    assert [(row[0], row[1], row[3] == "valid") for row in said] == [
        (words[row.hvx], words[row.hmx], row.valid) for row in HVX_HMX_VALIDITY
    ]


def test_the_events_table_names_every_event_and_field() -> None:
    """Each kind of event has a row with its additional fields."""
    table = {row[0]: row[2] for row in rows(read("embedding.md")) if len(row) == 3}
    common = {field.name for field in attrs.fields(events.Event)}
    kinds = events.Event.__subclasses__()
    assert kinds
    for kind in kinds:
        own = {field.name for field in attrs.fields(kind)} - common
        assert own <= set(re.findall(r"\w+", table[kind.__name__])), kind.__name__


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("embedding.md", ControllerStatus),
        ("embedding.md", SessionStatus),
        ("status.md", CoreStatus),
        ("status.md", ProcessSetting),
    ],
)
def test_the_pages_name_every_field_of_a_status(page: str, kind: Any) -> None:
    """Each field of the status in Python has a row with its meaning."""
    named = {name for row in rows(read(page)) if len(row) == 2 and row[1] for name in row[0].split(", ")}
    assert set(inspect.get_annotations(kind)) <= named


def test_the_status_page_names_every_field_of_the_file() -> None:
    """Each field of the status as JSON has a row with its meaning."""
    said = {row[0]: row[1] for row in rows(read("status.md")) if len(row) == 2}
    fields = dict(json_fields(STATUS))
    assert {name: said.get(name) for name in fields} == {
        name: meaning.replace("`", "") for name, meaning in fields.items()
    }


def test_no_page_names_a_place_outside_the_project() -> None:
    """No page has a path of the machine that made it."""
    for page in (*DOCS.glob("*.md"), *DOCS.glob("*.svg")):
        assert str(ROOT) not in page.read_text(encoding="utf-8"), page.name


def test_the_names_of_codes_in_troubleshooting() -> None:
    """Every code on the page has the right name, and codes called unknown have none."""
    named = re.findall(r"\*\*(\d{4,5})\*\* `([A-Z_]+)`", read("troubleshooting.md"))
    assert len(named) >= 15
    assert [code for code, name in named if not code_name(int(code)).endswith(f"_{name}")] == []
    assert code_name(4950) == code_name(11003) == "UNKNOWN"


def test_how_to_install_is_said_in_one_place() -> None:
    """Only the page on installing says how, since the package is not published yet."""
    by_name = re.compile(r"pip3? install [^\n`]*(?<![/\\\w.])htppower(?![\w/])")
    texts = {*DOCS.rglob("*.md"), ROOT / "README.md"} - {DOCS / "install.md"}
    assert not [text for text in texts if by_name.search(text.read_text(encoding="utf-8"))]
    assert "not published yet" in (DOCS / "install.md").read_text(encoding="utf-8")


def _commands(block: str) -> list[str]:
    """Return the commands of a block, in the spelling of POSIX, without those of one shell only."""
    spelt = block.strip().replace("\\", "/").replace("Scripts/", "bin/").replace("mkdir -p", "mkdir")
    shared = ("mkdir", "cd", ".venv/bin/pip", "../.venv/bin/pip", ".venv/bin/htppower")
    return [command for command in re.split(r" && |; |\n", spelt) if command.startswith(shared)]


def test_the_tutorial_sets_up_in_powershell_what_it_sets_up_in_sh() -> None:
    """Below each block for sh is a block for PowerShell, with the same commands."""
    blocks = re.findall(r"^```(sh|powershell)\n(.*?)^```$", read("tutorial.md"), re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh", "powershell"] * 3
    commands = [_commands(block) for _, block in blocks]
    assert commands[::2] == commands[1::2]
    assert all(commands)


def test_every_page_is_in_a_table_of_contents() -> None:
    """Each page is in the index once; the groups between Tutorial and Reference have at most ten pages."""
    trees = re.findall(r"```\{toctree\}\n:hidden:\n:caption: (.*)\n\n((?:\w+\n)+)```", read("index.md"))
    captions = [caption for caption, _ in trees]
    assert (captions[0], captions[-2:]) == ("Tutorial", ["Reference", "Explanation"])
    assert max(len(pages.split()) for _, pages in trees[1:-2]) <= 10
    listed = [page for _, pages in trees for page in pages.split()]
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("picture", sorted(path.name for path in DOCS.glob("*.svg")))
def test_each_picture_says_what_it_shows(picture: str) -> None:
    """A picture has a title and a description for readers who can't see it, and is used in a page."""
    drawn = read(picture)
    labelled = re.search(r'aria-labelledby="([^"]+)"', drawn)
    assert labelled
    for name in labelled[1].split():
        (said,) = re.findall(rf'<(?:title|desc) id="{name}">([^<]+)<', drawn)
        assert said.strip()
    assert any(f"{{picture}} {picture}\n" in page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))


def test_the_glossary_has_the_words_in_their_order() -> None:
    """Each word is there once, in alphabetical order, with its meaning."""
    terms = re.findall(r"^(\S.*)\n  \S", read("glossary.md").partition("```{glossary}\n")[2], re.MULTILINE)
    assert len(terms) > 30
    assert terms == sorted(set(terms), key=str.lower)


def test_the_page_of_commands_has_the_options_of_the_help() -> None:
    """sphinx-click gets the help of each command: the groups, each option with its meaning, and the example."""
    shown: dict[str, Any] = {}
    load_page_code("command_line.py").setup(type("App", (), {"connect": staticmethod(shown.__setitem__)})())
    with click.Context(entry.main, info_name="htppower") as parent:
        for name in entry.main.list_commands(parent):
            command = entry.main.get_command(parent, name)
            assert isinstance(command, Command)
            ctx = click.Context(command, info_name=name, parent=parent)
            lines: list[str] = []
            shown["sphinx-click-process-options"](None, ctx, lines)
            groups = {
                title: [names for names, _ in records if not names.endswith("--help")]
                for title, records in command.option_groups(ctx).items()
            }
            options = [line.removeprefix(".. option:: ") for line in lines if line.startswith("..")]
            titles = [line.strip("*") for line in lines if line.startswith("**")]
            assert options == [names for records in groups.values() for names in records]
            assert titles == [title for title, records in groups.items() if records]
            shown["sphinx-click-process-epilog"](None, ctx, lines)
            assert f"   {command.example}" in lines
