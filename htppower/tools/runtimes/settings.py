"""The settings of a runtime for a profile, and the fields of the profile that the runtime can't express.

Options have a text for each language of a host: a map of keys and values, and calls with a key and a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from htppower.profiles.expressed import Lost
    from htppower.profiles.profile import Profile

# The nine modes of the vendor's own tools that vote.
MODES = (
    *("burst", "sustained_high_performance", "high_performance", "balanced", "low_balanced"),
    *("high_power_saver", "power_saver", "low_power_saver", "extreme_power_saver"),
)
LANGUAGES = ("json", "python", "kotlin", "java", "cpp", "csharp", "shell", "toml", "yaml", "pbtxt")
# A map for each language: the text before it, a pair, and the text after it.
_MAPS = {
    "cpp": (
        "std::unordered_map<std::string, std::string> qnn_options{",
        '    {{"{}", "{}"}},',
        '};\nsession_options.AppendExecutionProvider("QNN", qnn_options);',
    ),
    "csharp": (
        'sessionOptions.AppendExecutionProvider("QNN", new Dictionary<string, string>\n{',
        '    ["{}"] = "{}",',
        "});",
    ),
    "java": (
        "Map<String, String> qnnOptions = new HashMap<>();",
        'qnnOptions.put("{}", "{}");',
        "sessionOptions.addQnn(qnnOptions);",
    ),
    "kotlin": ("val qnnOptions = mapOf(", '    "{}" to "{}",', ")\nsessionOptions.addQnn(qnnOptions)"),
    "python": ('providers = [("QNNExecutionProvider", {', '    "{}": "{}",', "})]"),
}
# A call for each language: for the options of a run of ONNX Runtime, and for the options of onnxruntime-genai.
RUN_CALLS = {
    "cpp": 'run_options.AddConfigEntry("{}", "{}");',
    "csharp": 'runOptions.AddRunConfigEntry("{}", "{}");',
    "java": 'runOptions.addRunConfigEntry("{}", "{}");',
    "kotlin": 'runOptions.addRunConfigEntry("{}", "{}")',
    "python": 'run_options.add_run_config_entry("{}", "{}")',
}
GENAI_CALLS = {
    "cpp": 'config->SetProviderOption("qnn", "{}", "{}");',
    "csharp": 'config.SetProviderOption("qnn", "{}", "{}");',
    "java": 'config.setProviderOption("qnn", "{}", "{}");',
    "kotlin": 'config.setProviderOption("qnn", "{}", "{}")',
    "python": 'config.set_provider_option("qnn", "{}", "{}")',
}


@attrs.frozen
class Part:
    """A text to paste.

    Attributes:
        where: the place to paste it, such as ``provider options``.
        text: the text, without a line break at its end.
        language: one of ``LANGUAGES``.
        file: the usual name of the file; empty if the text is only a part of a file.
        note: remarks, in a sentence or two; may be empty.
        lost: the fields of the profile that it can't express; None if they are the same as for the first text.
    """

    where: str
    text: str
    language: str
    file: str = ""
    note: str = ""
    lost: tuple[Lost, ...] | None = None


@attrs.frozen
class Settings:
    """A profile as settings of a runtime.

    Attributes:
        parts: the texts to paste, the most important first.
        in_code: the same in the languages of hosts; each text alone, or with others of its language.
        lost: the fields that can't be expressed, in the order of a file.
        known: the source of the runtime's votes, in a sentence.
    """

    parts: tuple[Part, ...]
    lost: tuple[Lost, ...]
    known: str
    in_code: tuple[Part, ...] = ()

    def only(self, language: str) -> tuple[Part, ...]:
        """Return the texts to paste in one language."""
        return tuple(part for part in (*self.parts, *self.in_code) if part.language == language)

    @property
    def languages(self) -> tuple[str, ...]:
        """The available languages, in the order of ``LANGUAGES``."""
        there = {part.language for part in (*self.parts, *self.in_code)}
        return tuple(each for each in LANGUAGES if each in there)


@attrs.frozen
class Runtime:
    """A runtime.

    Attributes:
        title: the name of the runtime for people.
        write: returns a profile as settings of the runtime.
    """

    title: str
    write: Callable[[Profile], Settings]


def maps(where: str, options: Mapping[str, str], note: str) -> tuple[Part, ...]:
    """Return options of ONNX Runtime's provider as a map, in each language."""
    return tuple(
        Part(where, "\n".join((before, *(pair.format(*each) for each in options.items()), behind)), language, note=note)
        for language, (before, pair, behind) in _MAPS.items()
    )


def calls(where: str, of_languages: Mapping[str, str], options: Mapping[str, str], note: str) -> tuple[Part, ...]:
    """Return options as one call each, in each language."""
    return tuple(
        Part(where, "\n".join(call.format(*each) for each in options.items()), language, note=note)
        for language, call in of_languages.items()
    )
