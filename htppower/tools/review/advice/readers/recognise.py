"""Recognises a profiler's file by its content, and reads it."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from htppower.errors.root import UnreadableFile
from htppower.tools.readers.kinds import begins_as_json, is_own, other_file
from htppower.tools.readers.opening import opened
from htppower.tools.review.advice.readers import csv_rows, etdump
from htppower.tools.review.advice.readers import json_profiles as of_json
from htppower.tools.review.advice.readers.logs import read_log
from htppower.tools.review.advice.readers.source import Source, read_tree
from htppower.tools.review.advice.readers.text_profiles import is_viewer_text, read_viewer_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.readers.source import Node

_KNOWN = "a profile of Genie, a job of AI Hub, a report of qairt.Profiler, an optrace or its summary (QHAS)"


def read_measurements(
    path: str, standard_input: IO[bytes] | None = None, progress: Callable[[int], None] = lambda _: None
) -> list[Measurement]:
    """Return a measurement for each graph. For the path ``-``, ``standard_input`` is read.

    ``progress`` is called with the number of bytes, each time some are read.

    Raises:
        UnreadableFile: the kind of file is unknown, or the file is wrong.
    """
    with opened(path, Source, standard_input, progress) as source:
        if etdump.is_etdump(source.head):
            return etdump.read(source)
        if not source.is_text:
            hint = "it may be the log of QNN's profiler: qnn-profile-viewer --input_log FILE --output FILE.csv"
            raise UnreadableFile(source.path, "", "is not text", hint)
        if is_own(source.head):
            hint = "htppower trace shows what is in it, and htppower tune what to vote"
            raise UnreadableFile(source.path, "", "is a recording of htppower, not of a profiler", hint)
        head = source.head.decode("utf-8", "replace").lstrip("\ufeff")
        if begins_as_json(source.head):
            return _read_json(source)
        if csv_rows.is_csv(head):
            return csv_rows.read(source)
        return (read_viewer_text if is_viewer_text(head) else read_log)(source)


def _read_json(source: Source) -> list[Measurement]:
    # LoadGen's trace is not valid JSON.
    other = other_file(source.head)
    if other is not None:
        raise UnreadableFile(source.path, "", other.what, other.hint)
    tree = read_tree(source)
    job = of_json.ai_hub_job(tree)
    if job is not None:
        return of_json.read_ai_hub(job)
    if of_json.is_genie(tree):
        return of_json.read_genie(tree)
    if of_json.is_optrace(tree):
        return of_json.read_optrace(tree)
    if of_json.is_qairt(tree):
        return of_json.read_qairt(tree)
    if of_json.is_qhas(tree):
        return of_json.read_qhas(tree)
    raise _unknown(tree)


def _unknown(tree: Node) -> UnreadableFile:
    first = tree.value[0] if isinstance(tree.value, list) and tree.value else None
    if isinstance(first, dict) and "ph" in first:
        message = "is a trace of events, such as ONNX Runtime's profile, not the output of QNN's profiler"
        hint = f"htppower trace {tree.file} shows what is in it"
        return UnreadableFile(tree.file, "", message, hint)
    return UnreadableFile(tree.file, "", f"is JSON, but not {_KNOWN}", "htppower advise --help lists what can be read")
