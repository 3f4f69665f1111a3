"""All that can be explained except profiles: rules, rules of advice, native codes, corners, states, phases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.profiles.did_you_mean import nearest
from htppower.rules.rule import Family, my_votes
from htppower.tools.review.explain.subject import Subject
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.corners import EXPANDED_OF_CORE, ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from htppower.rules.rule import Rule
    from htppower.tools.review.advice.rules import AdviceRule

    Corner = VoltageCorner | ExpandedCorner

_NUMBER = re.compile(r"-?[0-9]+|0[xX][0-9a-fA-F]+")
_LONGEST_NUMBER = 20
_32_BITS = 0xFFFF_FFFF
_CORNER_SOURCE = "QnnHtpPerfInfrastructure.h, SDK {}; Hexagon SDK, HAP_power"

_NO_CLOCK = "Vote HMX by its default, or the core above DISABLE."


def rule_ids() -> tuple[str, ...]:
    """Return the ids of all rules, the rules of advice last."""
    from htppower.tools.review.advice.rules import ADVICE_RULES  # noqa: PLC0415 - only for a possible rule

    return (*CATALOGUE, *ADVICE_RULES)


def codes() -> tuple[str, ...]:
    """Return the native codes, as numbers and by the vendor's names."""
    from htppower.votes.native_codes import code_name, known_codes  # noqa: PLC0415 - only for a code

    return (*map(str, known_codes()), *(code_name(code) for code in known_codes()))


def corners() -> tuple[str, ...]:
    """Return the names of the corners of both kinds, each once."""
    return tuple(dict.fromkeys(name for kind in (VoltageCorner, ExpandedCorner) for name in kind.__members__))


def other_names() -> tuple[str, ...]:
    """Return the names of all that can be explained except profiles and power states."""
    from htppower.tools.review.explain.chips import chip_names  # noqa: PLC0415 - only for a list, or a wrong name
    from htppower.tools.review.explain.extension_keys import key_names  # noqa: PLC0415
    from htppower.tools.review.explain.relax_words import words  # noqa: PLC0415
    from htppower.tools.review.explain.session_words import session_words  # noqa: PLC0415

    return (*rule_ids(), *codes(), *corners(), *session_words(), *words(), *key_names(), *chip_names())


def is_subject(name: str) -> bool:
    """Return whether a name is a rule's, in upper or lower case, a code's or a corner's."""
    return name.upper() in rule_ids() or name in corners() or _code(name) is not None


def alike(name: str) -> str:
    """Return names to try instead of an unknown name; empty unless it looks like a rule, code or corner."""
    family = name.upper().rpartition("-")[0]
    of_family = [rule for rule in rule_ids() if family and rule.rpartition("-")[0] == family]
    if of_family:
        return f"one of {', '.join(of_family)}"
    if name[:2].lower() == "0x":
        from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS, OF_DSP  # noqa: PLC0415 - only for a code

        known = ", ".join(map(hex, FASTRPC_TEXTS))
        return f"the known codes of FastRPC are {known}, and each with {OF_DSP:#x} added by the DSP"
    if name.removeprefix("-").isdecimal():
        return f"the codes are {', '.join(code for code in codes() if code.isdecimal())}"
    from htppower.rules.soc_names import NO_HTP, near_soc, soc_of, without_htp  # noqa: PLC0415 - only for a wrong name

    old = without_htp(name)
    if old is not None:
        return f"{old} {NO_HTP}"
    # Part numbers are so similar that comparing texts would offer another generation.
    near = near_soc(name) or nearest(name, (each for each in other_names() if soc_of(each) is None))
    return f"did you mean {near}?" if near else ""


def subjects_of(name: str) -> tuple[Subject, ...]:
    """Return what a name means, except a profile or a key: one subject, two for a corner of both kinds, or none."""
    if name.upper() in CATALOGUE:
        return (_rule(CATALOGUE[name.upper()]),)
    if "-" in name:
        from htppower.tools.review.advice.rules import ADVICE_RULES  # noqa: PLC0415 - only for a possible rule

        if name.upper() in ADVICE_RULES:
            return (_advice(ADVICE_RULES[name.upper()]),)
    code = _code(name)
    if code is not None:
        return (_code_subject(code),)
    rpc = _fastrpc_code(name)
    if rpc is not None:
        return (_fastrpc_subject(name, rpc),)
    kinds = (VoltageCorner, ExpandedCorner)
    return tuple(_corner(kind[name]) for kind in kinds if name in kind.__members__)


def _rule(rule: Rule) -> Subject:
    facts = [
        ("why", rule.why),
        ("weighs", rule.breach.value),
        ("about", rule.family.value),
    ]
    if rule.kept_by:
        facts.append(("kept by", rule.kept_by))
    if rule.said:
        facts.append(("example", rule.said))
    facts += [("mend", rule.mend), ("source", rule.source)]
    finds = f"htppower settings --check {' '.join(rule.wrong)}" if rule.family is Family.SETTINGS else "htppower lint ."
    names = " ".join((finds, *rule.lint)) if rule.wrong else ""
    return Subject("rule", rule.id, rule.says, tuple(facts), rule.wrong, rule.right, names)


def _advice(rule: AdviceRule) -> Subject:
    facts = (
        ("why", rule.why),
        ("about", "advice"),
        ("looks at", rule.looks_at),
        ("mend", rule.mend),
        ("source", f"{rule.basis}: {rule.source}"),
    )
    return Subject("rule", rule.id, rule.says, facts)


def _code(name: str) -> int | None:
    """Return the code of a decimal or hexadecimal number, or of a name; None for anything else."""
    number = _number(name)
    if number is None and not name.startswith("QNN_") and name != "SUCCESS":
        return None
    from htppower.votes.native_codes import code_name, known_codes  # noqa: PLC0415 - only for a possible code

    return next((code for code in known_codes() if number == code or name == code_name(code)), None)


def _number(name: str) -> int | None:
    """Return a number from a log: decimal, hexadecimal, or negative if the log took its highest bit for a sign."""
    if len(name) > _LONGEST_NUMBER or not _NUMBER.fullmatch(name):
        return None
    return int(name, 16 if "x" in name.lower() else 10)


def _fastrpc_code(name: str) -> int | None:
    """Return the low bits of a code of FastRPC, or None. Decimal numbers count only with the bits that the DSP adds."""
    number = _number(name)
    if number is None:
        return None
    from htppower.tools.review.explain.fastrpc_codes import BITS, FASTRPC_TEXTS, OF_DSP  # noqa: PLC0415 - only for a code of FastRPC

    of_dsp = number & (_32_BITS & ~BITS) == OF_DSP
    plain = number & BITS if of_dsp else number
    return plain if plain in FASTRPC_TEXTS and (of_dsp or "x" in name.lower()) else None


def _fastrpc_subject(name: str, code: int) -> Subject:
    from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS, SOURCE  # noqa: PLC0415 - only for a code of FastRPC

    text = FASTRPC_TEXTS[code]
    number = (_number(name) or 0) & _32_BITS
    facts = (
        ("why", text.why),
        ("from", "FastRPC, on the DSP" if number != code else "FastRPC"),
        ("then", "If opening the link fails with it, deviceCreate returns 14001: htppower explain 14001."),
        ("mend", _sentence(f"{text.mend}.")),
        ("source", SOURCE),
    )
    return Subject("code", f"0x{number:x}", text.name, facts)


def _code_subject(code: int) -> Subject:
    from htppower.tools.review.explain.code_texts import CODE_TEXTS, SOURCE  # noqa: PLC0415 - only for a code
    from htppower.votes.native_codes import (  # noqa: PLC0415
        FAILED,
        LINK_LOST,
        NOT_ON_THIS_PLATFORM,
        SYSTEM_COMMUNICATION,
        code_name,
        what_to_do,
    )

    text = CODE_TEXTS[code]
    if code == 0:
        then = "The votes are in force."
    elif code in LINK_LOST:
        anew = "" if code == SYSTEM_COMMUNICATION else "The device is created again, with back-off. "
        then = f"{anew}Every session is UNKNOWN, and its votes are sent again if it should be raised or lowered."
    elif code == FAILED:
        then = "If a setting of the process is refused, the session works without it. If votes fail, it is UNKNOWN."
    elif code in NOT_ON_THIS_PLATFORM:
        then = "The session works without that vote, and its status shows that; with strict=True it is refused."
    else:
        then = "After such a call it is not known which votes are in force: the session is UNKNOWN."
    unset = "leave the vote unset if the profile is for it; " if code in NOT_ON_THIS_PLATFORM else ""
    facts = [
        ("why", text.why),
        ("then", then),
        ("example", text.example),
        ("mend", _sentence(f"{unset}{what_to_do(code)}.")),
    ]
    rules = [rule.id for rule in CATALOGUE.values() if re.search(rf"\b{code}\b", rule.source)]
    if rules:
        facts.append(("rules", ", ".join(rules)))
    return Subject("code", str(code), code_name(code), (*facts, ("source", SOURCE)))


def _corner(corner: Corner) -> Subject:
    from htppower.profiles.loading import load_profiles  # noqa: PLC0415 - only for a corner

    kind = type(corner)
    plain = kind is VoltageCorner
    ordered = sorted(each for each in kind if each.name != "DISABLE")
    facts = [("number", f"{int(corner)} {corner.enumerator}")]
    header = "2.48"
    if isinstance(corner, ExpandedCorner):
        facts.append(("since", f"SDK {corner.since}"))
        header = max(header, corner.since[:4])
    if corner.name == "DISABLE":
        facts.append(("why", "No vote: this client asks for nothing on that clock. It has no place in the order."))
        wrong = "dcvs_v3: {core: DISABLE}, hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: HIGH}"
        right, rule = "dcvs_v3: {core: DISABLE}, hmx_v2: default", "HMX-3"
    else:
        place = ordered.index(corner)
        facts.append(
            (
                "why",
                "A level of the voltage: the clock runs as fast as that allows. A higher one draws more.",
            )
        )
        facts.append(("order", " < ".join(each.name for each in ordered[max(0, place - 1) : place + 2])))
        low, high = (ordered[place - 1], corner) if place else (corner, ordered[1])
        spelt = (
            "dcvs_v3: {{core: {{min: {}, target: {}, max: {}}}}}"
            if plain
            else ("hmx_v2: {{min: {}, target: {}, max: {}, perf_mode: HIGH}}")
        )
        wrong, right = spelt.format(high.name, low.name, high.name), spelt.format(low.name, high.name, high.name)
        rule = "DCVS-2" if plain else "HMX-8"
    facts.append(("fields", "dcvs_v3, ceng" if plain else "hmx_v2, dcvs_v3_exp, ceng_exp"))
    other = _other_form(corner)
    if other:
        facts.append(("as", other))
    if plain:
        users = [profile.name for profile in load_profiles()[0] if _votes_on(profile.votes.hvx, corner)]
        facts.append(("in", ", ".join(users) or "no shipped profile raises to it"))
    facts += [("mend", "Put the corners in order, lowest first." if corner.name != "DISABLE" else _NO_CLOCK)]
    facts += [("rule", f"{rule}  {CATALOGUE[rule].says}"), ("source", _CORNER_SOURCE.format(header))]
    says = "a plain corner" if plain else "an expanded corner"
    return Subject("corner", corner.name, says, tuple(facts), my_votes(wrong), my_votes(right), "htppower lint .")


def _votes_on(hvx: object, corner: Corner) -> bool:
    clocks = (getattr(hvx, clock, None) for clock in ("core", "bus"))
    return any(corner in (each.min, each.target, each.max) for each in clocks if each is not None)


def _other_form(corner: Corner) -> str:
    """Return the corner of the other kind for the same level, as in the simulated HTP."""
    if isinstance(corner, VoltageCorner):
        return f"{EXPANDED_OF_CORE[corner].name} among the expanded corners"
    plain = next((each for each in VoltageCorner if EXPANDED_OF_CORE[each] is corner), None)
    return "" if plain is None else f"{plain.name} among the plain corners"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
