"""JUnit's XML, which build servers show as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import attrs

from htppower.tools.report.styled import xml_text

if TYPE_CHECKING:
    from collections.abc import Sequence


@attrs.frozen
class Case:
    """A test case.

    Attributes:
        name: its name within its suite.
        file: the file that it is about.
        failure: the message of its failure; None if it passed.
        kind: the kind of the failure.
        text: the text of the failure, or the output of a case that passed.
    """

    name: str
    file: str
    failure: str | None = None
    kind: str = "error"
    text: str = ""


def as_junit(name: str, suites: Sequence[tuple[str, Sequence[Case]]]) -> str:
    """Return the XML from suites with their names. A test that can't be run is an error of the command, not of XML."""
    root = ElementTree.Element("testsuites", name=name)
    for suite, cases in suites:
        inner = _counted(ElementTree.SubElement(root, "testsuite", name=xml_text(suite)), cases)
        for case in cases:
            _add(inner, suite, case)
    _counted(root, [case for _, cases in suites for case in cases])
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}'


def _counted(element: ElementTree.Element, cases: Sequence[Case]) -> ElementTree.Element:
    failures = sum(case.failure is not None for case in cases)
    for name, count in (("tests", len(cases)), ("failures", failures), ("errors", 0)):
        element.set(name, str(count))
    return element


def _add(suite: ElementTree.Element, classname: str, case: Case) -> None:
    said = {"classname": classname, "name": case.name, "file": case.file}
    element = ElementTree.SubElement(suite, "testcase", {key: xml_text(value) for key, value in said.items()})
    if case.failure is not None:
        message = xml_text(case.failure)
        ElementTree.SubElement(element, "failure", type=case.kind, message=message).text = xml_text(case.text)
    elif case.text:
        ElementTree.SubElement(element, "system-out").text = xml_text(case.text)
