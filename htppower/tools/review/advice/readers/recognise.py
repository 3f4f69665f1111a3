"""Recognises a profiler's file by its content, and reads it."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from htppower.errors.root import UnreadableFile
from htppower.tools.readers.kinds import begins_as_json, is_own, other_file
from htppower.tools.readers.opening import opened
from htppower.tools.review.advice.readers import ai_hub, csv_rows, etdump, genie, log_lines, optrace, qairt, viewer_text
from htppower.tools.review.advice.readers.source import Source, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.readers.source import Node

_KNOWN = "a profile of Genie, a profile job of AI Hub, a report of qairt.Profiler or a trace of optrace"


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
        if viewer_text.is_viewer_text(head):
            return viewer_text.read(source)
        return log_lines.read(source)


def _read_json(source: Source) -> list[Measurement]:
    # LoadGen's trace is not valid JSON.
    other = other_file(source.head)
    if other is not None:
        raise UnreadableFile(source.path, "", other.what, other.hint)
    tree = read_tree(source)
    job = ai_hub.summary_of(tree)
    if job is not None:
        return ai_hub.read(job)
    readers = ((genie.is_genie, genie.read), (optrace.is_trace, optrace.read), (qairt.is_qairt, qairt.read))
    for fits, read in readers:
        if fits(tree):
            return read(tree)
    raise _unknown(tree)


def _unknown(tree: Node) -> UnreadableFile:
    first = tree.value[0] if isinstance(tree.value, list) and tree.value else None
    if isinstance(first, dict) and "ph" in first:
        message = "is a trace of events, such as ONNX Runtime's profile, not the output of QNN's profiler"
        hint = f"htppower trace {tree.file} shows what is in it"
        return UnreadableFile(tree.file, "", message, hint)
    return UnreadableFile(tree.file, "", f"is JSON, but not {_KNOWN}", "htppower advise --help lists what can be read")
