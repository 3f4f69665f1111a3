"""What the records of the rules of extension files share: their sources, and the files of their examples.

The examples are texts instead of data, so that a command that needs only the ids does not import ``json``.
"""

from __future__ import annotations

from typing import Any

from htppower.rules.rule import Breach, Family, Rule

MEASURED = "measured on the vendor's parser and voter, QAIRT 2.47 to 2.51"
EXTENSIONS = 'vendor, "HTP Backend Extensions"'

FILE = "htp.json"
BURST = '{"perf_profile": "burst"}'
DEVICES = f'"devices": [{{"cores": [{BURST}]}}]'
OUTER = '"backend_extensions": {"config_file_path": "inner.json"}'
INNER = {"inner.json": f"{{{DEVICES}}}\n"}
SVS, NOM, MAX = (f"DCVS_VOLTAGE_VCORNER_{corner}" for corner in ("SVS", "NOM", "MAX_VOLTAGE_CORNER"))
START = '"init_start", "inference_start", "deinit_start"'
_DONE = '"init_done", "inference_done", "deinit_done"'


def extension_rule(number: int, says: str, breach: Breach, source: str = MEASURED, **more: Any) -> Rule:
    """Return a rule of extension files."""
    return Rule(f"EXT-{number}", says, breach, source, family=Family.EXTENSION, **more)


def file(members: str) -> dict[str, str]:
    """Return an extension file with these members at its top."""
    return {FILE: f"{{{members}}}\n"}


def cores(objects: str, members: str = "") -> dict[str, str]:
    """Return a file with one device that has these cores and members."""
    return file(f'"devices": [{{{members}{", " if members else ""}"cores": [{objects}]}}]')


def core(members: str = "") -> dict[str, str]:
    """Return a file with one core that has perf_profile burst and these members."""
    return cores(f"{BURST[:-1]}, {members}}}" if members else BURST)


def device(members: str) -> dict[str, str]:
    """Return a file with one device that has these members, and a core that has perf_profile burst."""
    return cores(BURST, members)


def graph(members: str, others: str = "") -> dict[str, str]:
    """Return a file with one graph that has these members."""
    return file(f'"graphs": [{{"graph_names": ["model"], {members}}}], {DEVICES}{others}')


def clocks(lowest: str = SVS, highest: str = SVS) -> str:
    """Return the corners of both clocks, with the target at the lowest."""
    sides = {"Min": lowest, "Target": lowest, "Max": highest}
    return ", ".join(
        f'"{clock}VoltageCorner{limit}": "{corner}"' for clock in ("bus", "core") for limit, corner in sides.items()
    )


def item(states: str, members: str = "", *, voted: str = "") -> str:
    """Return an item of custom with its clock votes and further members."""
    return f'{{"graphState": [{states}], "dcvsControl": {{{voted or clocks()}}}{members}}}'


def custom(*items: str, profile: str = "custom") -> dict[str, str]:
    """Return a file with these items of custom."""
    return cores(f'{{"perf_profile": "{profile}", "custom": [{", ".join(items)}]}}')


DONE = item(_DONE)
EVERY = (item(START), DONE)
