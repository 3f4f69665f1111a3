"""What names a person is removed from a document."""

from __future__ import annotations

import attrs
import pytest

from htppower.tools.doctor.redaction import Redaction

SAM = Redaction("sam", home="/home/sam", host="sams-board.lan")


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("/home/sam/lib/libQnnHtp.so", "~/lib/libQnnHtp.so"),
        ("ADSP_LIBRARY_PATH=/home/sam;/home/samantha/lib", "ADSP_LIBRARY_PATH=~;/home/USER/lib"),
        ("sudo usermod -aG fastrpc sam", "sudo usermod -aG fastrpc USER"),
        ("sample of SAM on sams-board.lan, or sams-board", "sample of USER on HOST, or HOST"),
        (r"C:\Users\Sam Jones\x and /Users/kim/x", r"C:\Users\USER\x and /Users/USER/x"),
        ("/vendor/lib64/libcdsprpc.so", "/vendor/lib64/libcdsprpc.so"),
    ],
)
def test_names_are_removed_from_a_text(text: str, without: str) -> None:
    """The home is ``~``; other homes, the user and the host have a word instead of their name."""
    assert SAM.of(text) == without


def test_every_text_of_a_document_is_looked_at() -> None:
    """Lists and nested objects, too. Numbers, null and keys stay: a user may be named like a key."""
    document = {"sam": [{"b": "sam"}, 1, None, True]}
    assert SAM.of(document) == {"sam": [{"b": "USER"}, 1, None, True]}


def test_the_distribution_stays() -> None:
    """On many boards the user or the host is named like the distribution."""
    assert attrs.evolve(SAM, user="ubuntu", shared="ubuntu 24.04").of("ubuntu 24.04") == "ubuntu 24.04"


@pytest.mark.parametrize("name", ["root", "", "linux"])
def test_a_name_that_names_nobody_stays(name: str) -> None:
    """A report about the group of root, or about Linux, keeps its words."""
    text = "root root 0600 on linux, /root/lib"
    assert Redaction(name, home="/root", host="localhost").of(text) == text
