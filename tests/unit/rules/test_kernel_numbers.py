"""Chips by the number that the kernel gives them."""

from __future__ import annotations

from htppower.rules.soc_names import by_kernel_number, old_by_kernel_number, without_htp


def test_a_number_of_the_kernel_is_not_a_name() -> None:
    """660 is SM8850, and Snapdragon 660 is another chip."""
    assert without_htp("660") == "SDM660"
    assert old_by_kernel_number(660) is None
    soc = by_kernel_number(660)
    assert soc is not None
    assert soc.names == ("SM8850",)


def test_a_chip_without_an_htp_is_found_by_its_number() -> None:
    """680 is QCS615; 557 has an HTP."""
    assert (old_by_kernel_number(680), old_by_kernel_number(557)) == ("QCS615", None)
