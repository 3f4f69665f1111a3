"""Options in a host's own language: maps of keys and values, and calls with a key and a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.runtimes.settings import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

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
