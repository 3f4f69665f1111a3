"""Texts are in plain English: few turns of phrase that a reader has to read twice.

A hit is not an error, and a page of hits is. Rewrite the sentence; do not swap one odd word for another.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.checkout import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

# Each turn of phrase, with what to write instead.
PATTERNS = {
    "'where' for 'if'": r"\bwhere (?:there|that|it|they|one|none|no|nobody|nothing|this|its|such|another|otherwise)\b",
    "'of which': name the thing": r"\b(?:of|on|by|in|at|to|for|from|under|with|as|after|before) (?:which|whose|whom)\b",
    "'What is ...' as a subject": r"(?:^|[.:;] )What (?:is|was|has|had|an?|the|it|they|can|comes|came|to|each|every|one"
    r"|follows|must)\b",
    "'is no X': is not a X": r"\b(?:is|are|was|were) no (?!longer|more)[a-z]+",
    "'in the place of', 'beside', 'meanwhile'": r"\bin the place of\b|\bfor good\b|\bat the latest\b|\bbeside\b"
    r"|\bby that\b|\bmeanwhile\b",
    "'tells of', 'says so'": r"\b(?:told|tells?|tell|said|says?|asks?|know[ns]?|heard?) (?:of|so)\b",
    "'take in'": r"\b[Tt]ak(?:e|es|en|ing) in\b",
    "'comes to', 'came of'": r"\b(?:comes?|came) (?:to|of|out of|in between|between|before)\b",
    "'who' as a subject": r"(?:^|[.:;,] )[Ww]ho(?:ever)? [a-z]+",
    "a telegram": r"(?:^|[.] )(?:First|Last|Again|Likewise|Also where|As (?:for|in|on|above|where))\b",
    "a sentence that begins with 'Of'": r"(?:^|[.:;] )Of (?:an?|one|the|those|that|what|several|which|its|each|all|two"
    r"|any|these|both)\b",
    "'that of', 'those of'": r"\b(?:that|those) of (?:an?|the|its|one|another|others|what)\b",
    "a story of a fault": r"\b(?:had|could) (?:been|be|have|not|never|no|said|told|gone|stayed|taken|found|made|run"
    r"|lost|ended|waited)\b",
    "'nobody', 'somebody'": r"\b(?:nobody|somebody)\b",
}
COMPILED = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
PACKAGES = sorted(path.name for path in (ROOT / "htppower").iterdir() if (path / "__init__.py").is_file())
# Hits in 100 words at most; and the fewest words by which a folder is judged.
MOST, MOST_IN_TESTS = 0.3, 0.5
FEW_WORDS = 1000


def texts_of_python(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and the comments of a file, each with its line."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text
    block: list[str] = []
    last = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:", "#!")):
            if token.start[0] != last + 1 and block:
                yield last, " ".join(block)
                block = []
            block.append(token.string.lstrip("# "))
            last = token.start[0]
    if block:
        yield last, " ".join(block)


def texts_of_markdown(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a page, without tables and code, each with its line."""
    prose = re.sub(
        r"^```.*?^```$",
        lambda code: "\n" * code[0].count("\n"),
        path.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    for found in re.finditer(r"(?:^(?!\|).*\S.*\n?)+", prose, re.MULTILINE):
        yield prose.count("\n", 0, found.start()) + 1, " ".join(line.strip("-# ") for line in found[0].splitlines())


def hits_of(text: str) -> list[str]:
    """Return the turns of phrase of a text."""
    return [f"{match[0].strip()!r} ({name})" for name, each in COMPILED.items() for match in each.finditer(text)]


def judge(paths: list[Path], most: float) -> None:
    """Fail if files have more hits in 100 words than that, with their places."""
    words, hits = 0, list[str]()
    for path in paths:
        for line, text in (texts_of_python if path.suffix == ".py" else texts_of_markdown)(path):
            words += len(re.findall(r"[A-Za-z']+", text))
            hits += [f"{path.relative_to(ROOT)}:{line}: {hit}" for hit in hits_of(text)]
    rate = 100 * len(hits) / max(words, FEW_WORDS)
    assert rate <= most, f"{rate:.2f} hits in 100 words:\n" + "\n".join(hits)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_texts_of_a_package_are_plain(package: str) -> None:
    """Docstrings and comments of a package have 0.3 hits in 100 words at most."""
    judge(sorted((ROOT / "htppower" / package).rglob("*.py")), MOST)


def test_the_pages_are_plain() -> None:
    """Pages, README, change log and guides have 0.3 hits in 100 words at most."""
    guides = [*(ROOT / ".github").glob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "tests" / "README.md"]
    judge([*sorted((ROOT / "docs").rglob("*.md")), *guides], MOST)


@pytest.mark.parametrize("folder", ["docs", "tests"])
def test_the_texts_of_other_code_are_plain(folder: str) -> None:
    """Docstrings and comments of tests, and of the programs that make pages, have 0.5 hits in 100 words at most."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    judge([path for path in paths if path != Path(__file__)], MOST_IN_TESTS)


def test_a_turn_of_phrase_is_found() -> None:
    """The patterns find what they name, and leave plain sentences alone."""
    riddle = "What is lost is told of where nobody asks. Of those that are left one is no vote."
    assert len(hits_of(riddle)) >= 5
    assert not hits_of("If the call fails, the session is UNKNOWN. The next step sends all votes again.")
