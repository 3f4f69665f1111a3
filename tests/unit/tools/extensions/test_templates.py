"""Templates of extension files: read as far as possible, and refused only for mistakes in other values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.linted_extensions import linted, written

from htppower.errors import ProfileError
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.json_text import filled
from htppower.tools.extensions.to_profiles import to_profiles

if TYPE_CHECKING:
    from support.command import Command

PLACEHOLDERS = [
    "{{SOC}}",
    "{{ soc.model }}",
    "${SOC}",
    "$SOC",
    "<SOC>",
    "<soc model>",
    "@SOC@",
    "%SOC%",
    "<%= soc %>",
    "SOC_MODEL",
]
NAMES = ["htp.json.template", "htp.json.in", "htp.tmpl", "htp.json.j2"]


def text(soc: str, profile: str = '"burst"') -> str:
    """Return a file with these words inserted unchanged."""
    return f'{{"devices": [{{"soc_model": {soc}, "cores": [{{"perf_profile": {profile}}}]}}]}}\n'


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_a_placeholder_is_not_judged(command: Command, tmp_path: Path, placeholder: str) -> None:
    """A placeholder, quoted or not, counts as any number or word. A mistake in another value is still found."""
    file = tmp_path / NAMES[0]
    assert linted(command, written(file, text(placeholder))) == []
    assert linted(command, written(file, text("69", placeholder))) == []
    quoted = f'"{placeholder}"' if placeholder != "SOC_MODEL" else '"{{SOC_MODEL}}"'
    assert linted(command, written(file, text(quoted, quoted))) == []
    assert linted(command, written(file, text("69", '"{% if a %}burst{% endif %}"'))) == []
    (finding,) = linted(command, written(file, text(placeholder, '"BURST"')))
    assert (finding["rule"], finding["column"]) == ("EXT-12", text(placeholder).index('"burst"') + 1)


@pytest.mark.parametrize("name", NAMES)
def test_statements_of_a_template_stand_for_nothing(command: Command, tmp_path: Path, name: str) -> None:
    """Statements and a loop's last comma are not refused; other mistakes are found."""
    whole = (
        '{# ours #}\n{"devices": [{% for soc in all %}\n{"soc_model": {{soc}}, "cores": [{"perf_profile": "burst"}]},'
    )
    whole += "\n"
    file = written(tmp_path / name, whole + "{% endfor %}]}\n")
    assert linted(command, file) == []
    (finding,) = linted(command, written(file, (whole + "{% endfor %}]}\n").replace("burst", "turbo")))
    assert (finding["rule"], finding["line"]) == ("EXT-12", 3)
    either = '{"devices": [{% if a %}{"device_id": 0}{% else %}{"device_id": 1}{% endif %}]}'
    assert linted(command, written(file, either)) == []
    assert [each["rule"] for each in linted(command, written(file, '{"devices": [}'))] == ["EXT-10"]


def test_a_file_that_is_no_template_by_its_name_is_refused(command: Command, tmp_path: Path) -> None:
    """Without a template's ending, the file is refused, as the vendor's parser refuses it."""
    for said in (text("{{SOC}}"), text('"{{SOC}}"'), text("69", '"{{PROFILE}}"')):
        assert [each["severity"] for each in linted(command, written(tmp_path / "htp.json", said))] == ["error"]


def test_a_template_is_imported_where_no_placeholder_stands_for_votes() -> None:
    """A placeholder for votes is refused with its place; its value is not guessed."""
    (made,) = to_profiles(parse_extension_file(text("{{SOC}}"), "htp.json.template"))
    assert made.base is not None
    assert made.base.name == "burst"
    for whole in (
        text("69", "{{PROFILE}}"),
        text("69", '"{{PROFILE}}"'),
        '{"devices": [{{DEVICES}}]}',
        '{"devices": [{"cores": <CORES>}]}',
    ):
        with pytest.raises(ProfileError) as raised:
            to_profiles(parse_extension_file(whole, "htp.json.template"))
        (finding,) = raised.value.problems
        assert (finding.rule, finding.hint) == ("EXT-12", "fill it in")
        assert "is the placeholder" in finding.message


def test_a_template_is_found_in_a_folder(command: Command, tmp_path: Path) -> None:
    """It is found by its content, like any extension file."""
    written(tmp_path / "htp.json.template", text("{{SOC}}", '"BURST"'))
    written(tmp_path / "other.template", '{"answer": {{X}}}')
    found = json.loads(command.run("lint", str(tmp_path), "--format", "json").stdout)
    assert [each["rule"] for each in found["findings"]] == ["EXT-12"]
    assert [Path(name).name for name in found["files"]] == ["htp.json.template"]


@pytest.mark.parametrize("part", ["{{", "<", "${", ",{%", "{#", ", {% x %}", "{{A}} ", "<a "])
def test_no_template_takes_long_to_read(part: str) -> None:
    """The largest file, with nothing but beginnings of placeholders and statements, is read quickly."""
    text = '{"devices": [' + part * (500_000 // len(part))
    assert len(filled(text)) == len(text)
