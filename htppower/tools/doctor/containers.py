"""The line that starts a container with all that the NPU needs.

Sources: FastRPC reads the name of the board in a folder that Docker hides, and if it can't, the variable MACHINE_NAME
(pull request 320 of https://github.com/qualcomm/fastrpc). Podman gives a container the groups of its user by
``keep-groups``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.doctor.machine import HEAP, SHELL_FOLDERS

if TYPE_CHECKING:
    from htppower.tools.doctor.machine import Machine

_NODE = "/dev/fastrpc-cdsp"
_CHIP = "/sys/devices/soc0"
_MACHINE_NAME = r"""-e MACHINE_NAME="$(tr -d '\0' < /sys/firmware/devicetree/base/model)" """.strip()


def run_lines(machine: Machine) -> tuple[str, ...]:
    """Return the line that starts this container anew, to be typed on the host; none if its kind is not known.

    It has all options, since one that is left out takes away what the container has now. The groups of the nodes are
    looked up on the host: a container without the nodes does not know them.
    """
    if not machine.engine:
        return ()
    nodes = (*([node.path for node in machine.npu_nodes] or [_NODE]), HEAP)
    options = [f"--device {node}" for node in nodes]
    if any(node.path in nodes and not node.group_reads for node in machine.nodes):
        options.append("--user 0")
    elif machine.engine == "podman":
        options.append("--group-add keep-groups")
    else:
        options += [f'--group-add "$(stat -c %g {node})"' for node in (nodes[0], HEAP)]
    chip = (_CHIP,) if machine.soc_number is None else ()
    options += [f"-v {folder}:{folder}:ro" for folder in (*chip, *SHELL_FOLDERS)]
    options.append(_MACHINE_NAME)
    return (f"{machine.engine} run {' '.join(options)} IMAGE",)
