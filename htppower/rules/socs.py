"""The SoCs with a Hexagon NPU that the vendor lists: model number, names, architecture, VTCM.

Source: the vendor's table of supported Snapdragon devices. Measured on the library: it accepts the model numbers 57, 69
and 87 and then reports V75, V79 and V81. VTCM is in MB, None if the table has no value.
"""

from __future__ import annotations

import attrs

from htppower.votes.field_repr import field_repr


@attrs.frozen
class Soc:
    """One SoC model.

    Attributes:
        model: the vendor's SoC model number.
        names: the part numbers that share it.
        arch: its Hexagon architecture, such as 75.
        vtcm_mb: its vector memory in MB, or None.
    """

    model: int
    names: tuple[str, ...]
    arch: int
    vtcm_mb: int | None

    __repr__ = field_repr


SOCS = (
    Soc(30, ("SM8350", "SM8350P"), 68, 4),
    Soc(32, ("SM7350",), 68, None),
    Soc(34, ("SM8325",), 68, None),
    Soc(35, ("SM7325",), 68, None),
    Soc(36, ("SM8450",), 69, 8),
    Soc(37, ("SC8280X",), 68, None),
    Soc(38, ("SM7315",), 68, None),
    Soc(39, ("SA8295",), 68, 8),
    Soc(41, ("SM7450",), 69, None),
    Soc(42, ("SM8475",), 69, 8),
    Soc(43, ("SM8550",), 73, 8),
    Soc(45, ("SXR1230P",), 73, 2),
    Soc(46, ("SAR2130P", "SSG2115P"), 73, 2),
    Soc(50, ("SM6450",), 73, None),
    Soc(52, ("SA8255", "SA8630", "SA8650", "SA8775"), 73, 8),
    Soc(53, ("SXR2230P",), 69, 8),
    Soc(54, ("SM7475",), 69, None),
    Soc(57, ("SM8650",), 75, 8),
    Soc(58, ("SAR1130P", "SSG2125P"), 73, 2),
    Soc(60, ("SC8380XP",), 73, None),
    Soc(61, ("SM7435",), 73, None),
    Soc(64, ("SM7550",), 73, None),
    Soc(66, ("QCS8550",), 73, None),
    Soc(67, ("SA7255", "SA8610", "SA8620", "SA8620P"), 75, None),
    Soc(68, ("SM8635",), 73, None),
    Soc(69, ("SM8750",), 79, 8),
    Soc(70, ("SM7675",), 73, None),
    Soc(72, ("SA8797",), 81, 16),
    Soc(73, ("SM7635",), 73, None),
    Soc(74, ("SM6650",), 73, None),
    Soc(75, ("SXR2330P",), 79, 8),
    Soc(76, ("SM6475",), 73, None),
    Soc(77, ("QCS9075", "QCS9100"), 73, 8),
    Soc(78, ("QCM6690",), 73, None),
    Soc(82, ("QCS8275", "QCS8300"), 75, None),
    Soc(85, ("SM8735",), 73, None),
    Soc(86, ("SM7750",), 73, None),
    Soc(87, ("SM8850",), 81, 8),
    Soc(88, ("SC8480XP",), 81, None),
    Soc(90, ("QCS8625",), 75, None),
    Soc(93, ("QCM6490", "QCS6490"), 68, 2),
    Soc(95, ("SAR2230P",), 81, 4),
    Soc(96, ("SW6100",), 81, 4),
    Soc(97, ("SM8845", "SM8845P"), 81, 8),
)
