"""Sphinx configuration: ``sphinx-build -W -n -b html docs docs/_build``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import htppower

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "htppower"
author = "The htppower authors"
release = htppower.__version__
version = release

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "docs.command_line",
    "docs.picture",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

# A command is copied without its prompt, and without its output.
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

# Quotes and dashes of options stay as they are typed.
smartquotes = False

html_theme = "furo"
html_title = f"htppower {release}"
html_static_path = ["_static"]
html_css_files = ["htppower.css"]
html_show_copyright = False

highlight_language = "none"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# The build needs no network, so it has no inventory of the standard library. The other names are used in
# signatures, and are not part of the public interface.
nitpick_ignore_regex = [
    (r"py:.*", r"(collections\.abc|os|enum|pathlib|types|typing|htppower\.control\.(phases|pace))\..*"),
    (r"py:.*", r"(ValueError|RuntimeError|Exception|Path|FilePath|PathLike|str|int|bool|float|None|tuple|dict)"),
    (r"py:.*", r"(NDArray|np\.\w+|Sustain|FastRpcAnswer|LinkKind)"),
    (r"py:.*", r"(InferenceSession|RunOptions|SessionOptions|CollectorRegistry|Metric|MeterProvider|TracerProvider)"),
    (r"py:.*", r"(Callable(\[\[\])?|Iterable|Mapping(\[int)?|Sequence|Literal|Self|TracebackType|Any|Place|KeyPath)"),
    (r"py:.*", r"(htppower\.extensions\..*\.)?(JsonText|FileKind|Block|Section|Node|Member|Remark|Provenance)"),
    (r"py:.*", r"(TraceFile|ClockTrace|FleetError|Fleet|FileGaps|Aim|IfThen|Settled)"),
    (r"py:.*", r"(.*\.)?(AsyncInference|AsyncGenerator|AsyncIterable|Generator|Function|Token)"),
]

_SHARED = re.compile(r"^( +)((?:\w+, )+\w+): ")


def share_descriptions(
    _app: Sphinx, _what: str, _name: str, _documented: object, _options: object, lines: list[str]
) -> None:
    """Give each name of ``min, target, max: ...`` in a docstring its own entry; napoleon does not."""
    made: list[str] = []
    start = 0
    while start < len(lines):
        shared = _SHARED.match(lines[start])
        end = start + 1
        if shared is None or "Attributes:" not in lines[:start]:
            made.append(lines[start])
        else:
            indent, names = shared.groups()
            while end < len(lines) and lines[end].startswith(f"{indent}  "):
                end += 1
            said = [lines[start][shared.end() :], *lines[start + 1 : end]]
            for name in names.split(", "):
                made += [f"{indent}{name}: {said[0]}", *said[1:]]
        start = end
    lines[:] = made


def setup(app: Sphinx) -> None:
    """Run before napoleon reads the docstrings (its priority is 500)."""
    app.connect("autodoc-process-docstring", share_descriptions, priority=400)
