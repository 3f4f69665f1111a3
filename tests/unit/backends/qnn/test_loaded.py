"""The files of the library in a text of /proc/self/maps."""

from __future__ import annotations

import pytest

from htppower.backends.qnn.loaded import files_in_maps

NAME = "libQnnHtp.so"


def line(path: str, permissions: str = "r-xp", inode: int = 7) -> str:
    """Return a line of /proc/self/maps as the kernel writes it."""
    return f"7f1c5e200000-7f1c5e2a1000 {permissions} 00021000 fd:01 {inode:<26} {path}".rstrip()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/opt/qnn/libQnnHtp.so", "/opt/qnn/libQnnHtp.so"),
        ("/a folder/with  spaces /libQnnHtp.so", "/a folder/with  spaces /libQnnHtp.so"),
        ("/opt/qnn/libQnnHtp.so (deleted)", "/opt/qnn/libQnnHtp.so"),
        ("/odd (deleted)/libQnnHtp.so", "/odd (deleted)/libQnnHtp.so"),
        (r"/line\012feed/libQnnHtp.so", "/line\nfeed/libQnnHtp.so"),
        ("/fe\x0bed\u2028/libQnnHtp.so", "/fe\x0bed\u2028/libQnnHtp.so"),
        ("/memfd:libQnnHtp.so (deleted)", "/memfd:libQnnHtp.so"),
        ("/data/app/x==/base.apk!/lib/arm64-v8a/libQnnHtp.so", "/data/app/x==/base.apk!/lib/arm64-v8a/libQnnHtp.so"),
        ("/data/app/x==/base.apk", None),
        ("/opt/qnn/libQnnHtpV75Stub.so", None),
        ("/opt/qnn/notlibQnnHtp.so", None),
        ("/opt/libQnnHtp.so/other", None),
        ("/opt/qnn/libQnnHtp.so.bak", None),
        ("[heap]", None),
        ("", None),
    ],
)
def test_a_line_names_a_file(path: str, found: str | None) -> None:
    """The name is the whole last part of the path, and the path is as the loader knows it."""
    assert files_in_maps(line(path) + "\n", NAME) == (() if found is None else (found,))


def test_only_code_counts_and_each_file_once() -> None:
    """A file that is only read is not loaded; the segments of a library are one file; the order is kept."""
    text = "\n".join(
        (
            line("/only/read/libQnnHtp.so", "r--p"),
            line("/b/libQnnHtp.so", "r--p"),
            line("/b/libQnnHtp.so", "r-xp"),
            line("/b/libQnnHtp.so", "rw-p"),
            line("/b/libQnnHtp.so", "r-xp"),
            line("/a/libQnnHtp.so", "r-xs"),
            "garbage",
        )
    )
    assert files_in_maps(text, NAME) == ("/b/libQnnHtp.so", "/a/libQnnHtp.so")
    assert files_in_maps("", NAME) == ()
