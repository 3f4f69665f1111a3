"""The SoCs with a Hexagon NPU that the vendor lists: model number, names, architecture, VTCM, the kernel's numbers.

Sources:
- the vendor's table of supported Snapdragon devices. Measured on the library: it accepts the model numbers 57, 69 and
  87 and then reports V75, V79 and V81. VTCM is in MB, None if the table has no value;
- marketing names: the vendor's product pages, https://www.qualcomm.com/products, which give the part number;
- boards: QCS6490 of the RB3 Gen 2 and of the Rubik Pi 3 (arch/arm64/boot/dts/qcom of Linux);
- the kernel's numbers: include/dt-bindings/arm/qcom,ids.h of Linux; for 614 the kernel's mailing list. The device
  library of QAIRT 2.51 was tried with 475, 497, 498, 555, 557, 577, 603, 604, 618, 660, 667, 674, 675 and 676: for each
  number it reports the same Hexagon as this table;
- SC7280X and SA8540: the SoC models of the QNN headers, as google-ai-edge/LiteRT lists them. Linux describes SA8540P
  as a variant of SC8280XP. The library for x86-64 of QAIRT 2.51 accepts 62 and refuses HMX votes there, as below V75;
  it does not know 44.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Soc:
    """One SoC model.

    Attributes:
        model: the vendor's SoC model number.
        names: the part numbers that share it.
        arch: its Hexagon architecture, such as 75.
        vtcm_mb: its vector memory in MB, or None.
        other_names: marketing names, boards, and part numbers that the table does not have.
        kernel: its numbers in /sys/devices/soc0/soc_id.
        first_sdk: the first QAIRT release that is known to serve it; empty if unknown.
        remark: where sources about it disagree; empty if they do not.
    """

    model: int
    names: tuple[str, ...]
    arch: int
    vtcm_mb: int | None
    other_names: tuple[str, ...] = ()
    kernel: tuple[int, ...] = ()
    first_sdk: str = ""
    remark: str = ""


SOCS = (
    Soc(30, ("SM8350", "SM8350P"), 68, 4, ("Snapdragon 888", "Snapdragon 888+"), (439,)),
    Soc(32, ("SM7350",), 68, None, ("Snapdragon 780G",)),
    Soc(34, ("SM8325",), 68, None),
    Soc(35, ("SM7325",), 68, None, ("Snapdragon 778G", "Snapdragon 778G+", "Snapdragon 782G"), (475, 499)),
    Soc(36, ("SM8450",), 69, 8, ("Snapdragon 8 Gen 1",), (457, 480, 482)),
    Soc(37, ("SC8280X",), 68, None, ("Snapdragon 8cx Gen 3",), (449,)),
    Soc(38, ("SM7315",), 68, None),
    Soc(39, ("SA8295",), 68, 8, kernel=(460,)),
    Soc(41, ("SM7450",), 69, None, ("Snapdragon 7 Gen 1",), (506, 547)),
    Soc(42, ("SM8475",), 69, 8, ("Snapdragon 8+ Gen 1",), (530, 531, 540)),
    Soc(43, ("SM8550",), 73, 8, ("Snapdragon 8 Gen 2",), (519,)),
    Soc(44, ("SC7280X",), 68, None, ("Snapdragon 7c+ Gen 3",), remark="QAIRT 2.51 for x86-64 does not know this model"),
    Soc(45, ("SXR1230P",), 73, 2),
    Soc(46, ("SAR2130P", "SSG2115P"), 73, 2, ("Snapdragon AR2 Gen 1",), (525,)),
    Soc(50, ("SM6450",), 73, None, ("Snapdragon 6 Gen 1",)),
    Soc(52, ("SA8255", "SA8630", "SA8650", "SA8775"), 73, 8, kernel=(532, 533, 534)),
    Soc(53, ("SXR2230P",), 69, 8, ("Snapdragon XR2 Gen 2",)),
    Soc(54, ("SM7475",), 69, None, ("Snapdragon 7+ Gen 2",)),
    Soc(57, ("SM8650",), 75, 8, ("Snapdragon 8 Gen 3",), (557, 577)),
    Soc(58, ("SAR1130P", "SSG2125P"), 73, 2, ("Snapdragon AR1 Gen 1",), (579,)),
    Soc(60, ("SC8380XP",), 73, None, ("Snapdragon X Elite", "Snapdragon X Plus", "Snapdragon X"), (555,)),
    Soc(61, ("SM7435",), 73, None, ("Snapdragon 7s Gen 2",)),
    Soc(62, ("SA8540",), 68, None),
    Soc(64, ("SM7550",), 73, None, ("Snapdragon 7 Gen 3",)),
    Soc(66, ("QCS8550",), 73, None, ("QCM8550",), (603, 604)),
    Soc(67, ("SA7255", "SA8610", "SA8620", "SA8620P"), 75, None),
    Soc(68, ("SM8635",), 73, None, ("Snapdragon 8s Gen 3",), (614,)),
    Soc(69, ("SM8750",), 79, 8, ("Snapdragon 8 Elite",), (618,)),
    Soc(70, ("SM7675",), 73, None, ("Snapdragon 7+ Gen 3",)),
    Soc(72, ("SA8797",), 81, 16, kernel=(690,)),
    Soc(73, ("SM7635",), 73, None, ("Snapdragon 7s Gen 3",), (636,)),
    Soc(74, ("SM6650",), 73, None, ("Snapdragon 6 Gen 4",), (640, 641)),
    Soc(75, ("SXR2330P",), 79, 8),
    Soc(76, ("SM6475",), 73, None, ("Snapdragon 6 Gen 3",)),
    Soc(77, ("QCS9075", "QCS9100"), 73, 8, ("IQ-9075", "IQ-9100"), (667, 676)),
    Soc(78, ("QCM6690",), 73, None, ("QCS6690", "Q-6690"), (657, 658)),
    Soc(82, ("QCS8275", "QCS8300"), 75, None, ("IQ-8275", "IQ-8300"), (674, 675)),
    Soc(
        85,
        ("SM8735",),
        73,
        None,
        ("Snapdragon 8s Gen 4",),
        remark="pytorch/executorch pull request 19216 has V79 with 8 MB; QAIRT 2.51 refuses HMX votes, as below V75",
    ),
    Soc(86, ("SM7750",), 73, None, ("Snapdragon 7 Gen 4",), (659,)),
    # QAIRT 2.42 does not know it, and 2.46 does: ultralytics/yolo-flutter-app pull request 526.
    Soc(87, ("SM8850",), 81, 8, ("Snapdragon 8 Elite Gen 5",), (660,), first_sdk="2.46"),
    Soc(88, ("SC8480XP",), 81, None, ("Snapdragon X2 Elite", "Snapdragon X2 Elite Extreme", "Snapdragon X2 Plus")),
    Soc(90, ("QCS8625",), 75, None),
    Soc(93, ("QCM6490", "QCS6490"), 68, 2, ("RB3 Gen 2", "Rubik Pi 3"), (497, 498)),
    Soc(95, ("SAR2230P",), 81, 4),
    Soc(96, ("SW6100",), 81, 4),
    Soc(97, ("SM8845", "SM8845P"), 81, 8, ("Snapdragon 8 Gen 5",)),
)
