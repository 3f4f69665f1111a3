"""The public names of every public class are exactly the names on the API page."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import textwrap

import pytest
from support.checkout import ROOT

API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
# Only the subscribers on the page.
MODULES = (
    "htppower",
    "htppower.backends",
    "htppower.testing",
    "htppower.events",
    "htppower.hosts.onnxruntime",
    "htppower.hosts.web",
    *re.findall(r"htppower\.subscribers\.\w+", API),
)

# The exports from before the modules moved into folders by layer, which must still work.
KEPT = {
    "htppower": "BackendUnavailable Cap Hold HtpPowerError Lowering PowerState Problem Profile ProfileError Relax"
    " RuleBreach Session SessionClosed State ThermalCap Unavailable VoteController VoteRejected __version__ backends"
    " load_profile profile_names testing",
    "htppower.backends": "Backend Call Description Device Effective QnnHtp RecordingBackend SimulatedHtp Step"
    " TimedHtp Timing named_backend",
    "htppower.testing": "VirtualTime",
    "htppower.events": "CallMade CallsSaved CapLifted CapSet Cause Degradation Degraded Event HoldBegan HoldEnd"
    " HoldEnded LinkChanged LinkState Phase ProfileChanged Recovered ReleaseFailed SessionOpened SustainLearned"
    " Transition",
    "htppower.subscribers.chrome_trace": "ChromeTrace PROCESS",
    "htppower.subscribers.opentelemetry": "SUCCESS subscribe",
    "htppower.subscribers.prometheus": "LOWERINGS PrometheusMetrics",
    "htppower.subscribers.snapshot": "Sample controller_samples session_samples",
    "htppower.subscribers.trace_file": "TraceFile",
    "htppower.hosts.onnxruntime": "ProviderOptions ProviderUnavailable ProviderVotes Unexpressed VotingSession"
    " load_model provider_options",
}

_DIRECTIVE = re.compile(r"^\.\. (currentmodule|autoclass|autoexception):: ([\w.]+)(?:\(\))?$")


def on_the_page() -> dict[type, dict[str, str]]:
    """Return every class of the API page with the options of its directive."""
    module = ""
    classes: dict[type, dict[str, str]] = {}
    options: dict[str, str] = {}
    for line in re.sub(r",\n +", ", ", API).splitlines():
        directive = _DIRECTIVE.match(line)
        option = re.match(r"^   :([\w-]+): ?(.*)$", line)
        if directive is not None and directive[1] == "currentmodule":
            module = directive[2]
        elif directive is not None:
            options = classes[getattr(importlib.import_module(module), directive[2])] = {}
        elif option is not None:
            options[option[1]] = option[2]
    return classes


PAGE = on_the_page()


def exported() -> set[type]:
    """Return every class that the public modules export."""
    found = set()
    for name in MODULES:
        module = importlib.import_module(name)
        for each in getattr(module, "__all__", None) or vars(module):
            value = getattr(module, each)
            ours = hasattr(module, "__all__") or getattr(value, "__module__", None) == name
            if isinstance(value, type) and ours and not each.startswith("_"):
                found.add(value)
    return found


def members(subject: type) -> set[str]:
    """Return the public members of a class: of the class itself, and attributes that its methods assign to ``self``.

    Members of a base from elsewhere, such as an exception's ``args``, are left out.
    """
    found: set[str] = set()
    for base in (each for each in subject.__mro__ if each.__module__.startswith("htppower.")):
        tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        found |= {
            node.attr for node in assigned if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
        }
        # The fields of a value without slots are not members of its class.
        found |= vars(base).keys() | {field.name for field in vars(base).get("__attrs_attrs__", ())}
    return {name for name in found if not name.startswith("_")}


def documented(subject: type) -> set[str]:
    """Return the members of a class on the API page: those that it lists, and the attributes of the docstring."""
    options = PAGE[subject]
    shown: set[str] = set()
    if options.get("members"):
        shown = {name.strip() for name in options["members"].split(",")}
    elif "members" in options:
        undocumented = "undoc-members" in options
        shown = {name for name in members(subject) if undocumented or inspect.getdoc(getattr(subject, name))}
    return shown.union(*(attributes(base) for base in subject.__mro__))


def attributes(subject: type) -> set[str]:
    """Return the names under ``Attributes`` in the docstring of a class."""
    section = re.search(r"\nAttributes:\n((?:    .*\n|\n)*)", f"{inspect.cleandoc(subject.__doc__ or '')}\n")
    lines = [] if section is None else re.findall(r"^    ([\w, ]+):", section[1], re.MULTILINE)
    return {name.strip() for line in lines for name in line.split(",")}


@pytest.mark.parametrize("module", KEPT)
def test_what_was_exported_is_exported_still(module: str) -> None:
    """Every earlier export of a public module still exists."""
    found = importlib.import_module(module)
    assert not [name for name in KEPT[module].split() if not hasattr(found, name)]


def test_only_enums_leave_it_to_sphinx_which_members_to_show() -> None:
    """Without a list of members all are shown, and none can be missing; so only enums may have no list."""
    bare = {subject for subject, options in PAGE.items() if options.get("members") == ""}
    assert not [subject.__name__ for subject in bare if not issubclass(subject, enum.Enum)]


def test_every_exported_class_is_on_the_page() -> None:
    """A class that can be imported from a public module is on the page."""
    assert exported() <= set(PAGE)


@pytest.mark.parametrize("subject", PAGE, ids=lambda subject: subject.__name__)
def test_the_public_members_are_the_documented_ones(subject: type) -> None:
    """The page has exactly the names in ``dir``; enumerators need no entry."""
    found = members(subject)
    if issubclass(subject, enum.Enum):
        found -= set(subject.__members__)
    assert found == documented(subject) - set(getattr(subject, "__members__", ()))
