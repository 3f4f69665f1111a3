"""Codes of QNN and of FastRPC, alone or in a pasted text: found, and explained."""

from __future__ import annotations

import re
from typing import NamedTuple

from htppower.tools.report.words import sentence
from htppower.tools.review.explain.code_texts import CODE_TEXTS, SOURCE
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS, WORD, fastrpc_code
from htppower.tools.review.explain.fastrpc_codes import SOURCE as FASTRPC_SOURCE
from htppower.tools.review.explain.log_texts import EXPLANATIONS, LogText, Message, messages_in
from htppower.tools.review.explain.subject import Subject
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.native_codes import (
    FAILED,
    LINK_LOST,
    NOT_ON_THIS_PLATFORM,
    SYSTEM_COMMUNICATION,
    code_name,
    known_codes,
    what_to_do,
)

_NUMBER = re.compile(r"-?[0-9]+|0[xX][0-9a-fA-F]+|[0-9][0-9a-fA-F]*[hH]")
_LONGEST_NUMBER = 20
_LONGEST_TEXT = 100_000
# What may be a code in a text: a word, not a part of a path, a time or a longer number.
_WORDS = re.compile(r"(?<![\w./:-])(?:-?[0-9][0-9a-zA-Z]*|(?:QNN|AEE)_\w+)(?![\w-]|[.:][0-9])", re.IGNORECASE)
# A decimal number counts as a code of QNN only if the words before it say that it is one.
_SAYS_CODE = re.compile(
    r"(?:(?:err|code|status|fail|return|answer|result)\w*\b[^\n0-9]{0,30}|[:=]\s{1,3}|=)$", re.IGNORECASE
)
# A short hexadecimal number counts as a code of FastRPC only in a line about FastRPC. Other lines have statuses of the
# library's own.
_ABOUT_FASTRPC = re.compile(r"qnn_open|rpc status|remote_|fastrpc|\bAEE_|\berror 0x[0-9a-f]+: \w", re.IGNORECASE)
# The answers of calls that open the backend.
_AT_START = frozenset({1008, 1009, 4000, 4003, 4004, 4010, 4012, 14001, 14002, 14004})
_SEPARATORS = " \t\r\n,;/"
_NAMES = {text.name: code for code, text in FASTRPC_TEXTS.items()}


class Code(NamedTuple):
    """A known code.

    Attributes:
        number: the code of QNN; of a code of FastRPC, its low ten bits.
        of_fastrpc: whether it is a code of FastRPC.
        whole: the number as it was given, as an unsigned number of 32 bits; it may have the bits that the DSP adds.
    """

    number: int
    of_fastrpc: bool
    whole: int


def code_of(name: str) -> Code | None:
    """Return the code of a number or a name; None if it is not a known one.

    Hexadecimal numbers are written 0x80000406 or 80000406h. A decimal number is a code of FastRPC only with the bits
    that the DSP adds, as a signed or an unsigned number.
    """
    number = _number(name)
    if number is None:
        return _by_name(name)
    if number in CODE_TEXTS:
        return Code(number, of_fastrpc=False, whole=number)
    rpc = fastrpc_code(number, bare=name[-1:] in "hH" or "x" in name.lower())
    return None if rpc is None else Code(rpc, of_fastrpc=True, whole=number & WORD)


def codes_in(text: str) -> tuple[Code, ...]:
    """Return the codes in a text, each once, in their order."""
    text = text[:_LONGEST_TEXT]
    listed = [word for word in re.split(f"[{_SEPARATORS}]+", text) if word]
    if listed and all(code_of(word) for word in listed):
        return tuple(dict.fromkeys(code for word in listed if (code := code_of(word))))
    found = (_in_line(match, line) for line in text.splitlines() for match in _WORDS.finditer(line))
    return tuple({(code.number, code.of_fastrpc): code for code in found if code is not None}.values())


def _in_line(match: re.Match[str], line: str) -> Code | None:
    word = match[0]
    code = code_of(word)
    if code is None or not word[-1:].isalnum():
        return None
    if code.of_fastrpc:
        # The library's own statuses are small numbers and -1.
        with_dsp = code.whole not in (code.number, WORD) or word[:3].upper() == "AEE"
        return code if with_dsp or _ABOUT_FASTRPC.search(line) else None
    named = not word.lstrip("-")[:1].isdecimal()
    return code if code.number and (named or _SAYS_CODE.search(line[: match.start()])) else None


def _number(name: str) -> int | None:
    if len(name) > _LONGEST_NUMBER or not _NUMBER.fullmatch(name):
        return None
    if name[-1] in "hH":
        return int(name[:-1], 16)
    return int(name, 16 if "x" in name.lower() else 10)


def _by_name(name: str) -> Code | None:
    rpc = _NAMES.get(name.upper())
    if rpc is not None:
        return Code(rpc, of_fastrpc=True, whole=rpc)
    qnn = next((code for code in known_codes() if name == code_name(code)), None)
    return None if qnn is None else Code(qnn, of_fastrpc=False, whole=qnn)


def names_of_codes() -> tuple[str, ...]:
    """Return the codes of QNN, as numbers and by the vendor's names, and the names of the codes of FastRPC."""
    return (*map(str, known_codes()), *(code_name(code) for code in known_codes()), *_NAMES)


def code_subject(code: Code) -> Subject:
    """Return the explanation of a code."""
    return _fastrpc_subject(code) if code.of_fastrpc else _qnn_subject(code.number)


def subjects_in(text: str) -> tuple[Subject, ...]:
    """Return the explanations of all codes and of the vendor's messages in a text; empty if none is known."""
    codes = codes_in(text)
    messages = {message.text: message for line in text[:_LONGEST_TEXT].splitlines() for message in messages_in(line)}
    if codes or len(messages) > 1:
        # The others say more.
        messages.pop(LogText.SKEL_NOT_LOADED, None)
    return (*map(code_subject, codes), *map(_message_subject, messages.values()))


def _message_subject(message: Message) -> Subject:
    text = EXPLANATIONS[message.text]
    facts = (("why", text.why), ("mend", sentence(f"{text.mend}.")), ("on this machine", "htppower doctor"))
    return Subject("code", message.text.value, "a message of the vendor's log", facts)


def _fastrpc_subject(code: Code) -> Subject:
    text = FASTRPC_TEXTS[code.number]
    facts = (
        ("why", text.why),
        ("from", "FastRPC, on the DSP" if code.whole != code.number else "FastRPC"),
        ("then", "If opening the link fails with it, deviceCreate returns 14001: htppower explain 14001."),
        ("mend", sentence(f"{text.mend.value}.")),
        ("source", FASTRPC_SOURCE),
    )
    return Subject("code", f"0x{code.whole:x}", text.name, facts)


def _qnn_subject(code: int) -> Subject:
    text = CODE_TEXTS[code]
    unset = "leave the vote unset if the profile is for it; " if code in NOT_ON_THIS_PLATFORM else ""
    facts = [
        ("why", text.why),
        ("then", _then(code)),
        ("example", text.example),
        ("mend", sentence(f"{unset}{what_to_do(code)}.")),
    ]
    rules = [rule.id for rule in CATALOGUE.values() if re.search(rf"\b{code}\b", rule.source)]
    if rules:
        facts.append(("rules", ", ".join(rules)))
    return Subject("code", str(code), code_name(code), (*facts, ("source", SOURCE)))


def _then(code: int) -> str:
    if code == 0:
        return "The votes are in force."
    if code in _AT_START:
        return "The backend can't be used, and nothing is voted. htppower doctor names the cause on this machine."
    if code in LINK_LOST:
        anew = "" if code == SYSTEM_COMMUNICATION else "The device is created again, with back-off. "
        return f"{anew}Every session is UNKNOWN, and its votes are sent again if it should be raised or lowered."
    if code == FAILED:
        return "If a setting of the process is refused, the session works without it. If votes fail, it is UNKNOWN."
    if code in NOT_ON_THIS_PLATFORM:
        return "The session works without that vote, and its status shows that; with strict=True it is refused."
    return "After such a call it is not known which votes are in force: the session is UNKNOWN."
