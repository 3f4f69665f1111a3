"""Unknown keys that the vendor's parser does not refuse: it ignores them, or reads them as another key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import ProfileError, shortened
from htppower.profiles.did_you_mean import nearest
from htppower.tools.extensions.extension_file import Wrong, is_by_words
from htppower.tools.extensions.key_table import KEYS, known
from htppower.tools.extensions.key_words import named_leaves, path_of, read_as
from htppower.tools.extensions.keys import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Member

# The top-level key for suppressions: the vendor's parser ignores it.
OURS = "htppower"


def unknown_keys(file: ExtensionFile) -> Iterator[tuple[Block, Wrong]]:
    """Yield the ignored keys (EXT-20), and the keys that are read as others (EXT-24), each with its object.

    If a key is given twice, only the first is reported.
    """
    for block in file.blocks:
        told: set[str] = set()
        for member, key in block.members():
            if key is None and member.key not in told and (block.at or member.key != OURS):
                yield block, unknown_key(block, member)
            told.add(member.key)


def unknown_key(block: Block, member: Member) -> Wrong:
    """Return what the parser does with an unknown key of an object, and the correction."""
    where = block.section if block.at else "the file"
    if others := read_as(block.at, member):
        names = ", ".join(others)
        said = f"{shortened(member.key)!r} in {where} is read as {names}, because of the words in it"
        return Wrong("EXT-24", member, said, f"write {names}, or delete it")
    said = f"{shortened(member.key)!r} in {where} is silently ignored"
    homes = [str(section) for (section, name), _ in KEYS.items() if name == member.key and section is not block.section]
    if homes:
        return Wrong("EXT-20", member, said, f"it is read in {homes[0]}")
    near = nearest(member.key, known(block.section))
    return Wrong("EXT-20", member, said, f"did you mean {near}?" if near else "delete it")


def refuse_others(file: ExtensionFile, name: str = "") -> None:
    """Refuse a file of another kind: a file in which the vendor's parser reads no key.

    ``name`` is the kind of the file, if it is known.

    Raises:
        ProfileError: it is such a file. A file without any key is an extension file without settings.
    """
    top = file.blocks[0]
    names = known(top.section)
    if not top.node.members or any(
        key is not None or member.key == OURS or read_as((), member) for member, key in top.members()
    ):
        return
    near = next(filter(None, (nearest(member.key, names) for member in top.node.members)), None)
    hint = f"did you mean {near}?" if near else f"an extension file has {' or '.join(names)}"
    message = "no key here belongs to an extension file, or is a mode of a runtime"
    message += f": this is {name}" if name else ""
    raise ProfileError([file.problem("KEY-1", top.node.members[0], message, hint)])


def found_by_get(block: Block, member: Member) -> bool:
    """Return whether ``Block.get`` finds the known key that an unknown key is read as, in a file of ``with_strays``."""
    if block.section in (Section.CORE, Section.GRAPH) or not {"cores", "graphs"}.isdisjoint(block.at):
        sections = (Section.GRAPH,) if "graphs" in block.at else (Section.CORE, Section.DEVICE)
        return all(any(is_by_words(each, name) for each in sections) for name in read_as(block.at, member))
    return all(
        "devices" in leaf.path or "graphs" in leaf.path
        for leaf in named_leaves(member.node, path_of((*block.at, member.key)))
    )
