"""Whole numbers taken out of a state that was read from a file."""

from __future__ import annotations


def whole(value: object) -> int:
    """Return a whole number that is not negative.

    Raises:
        TypeError, ValueError: it is none.
    """
    if type(value) is not int:
        raise TypeError("not a whole number")
    if value < 0:
        raise ValueError("a negative number")
    return value


def wholes(value: object) -> list[int]:
    """Return a list of such numbers.

    Raises:
        TypeError, ValueError: it is none.
    """
    if type(value) is not list:
        raise TypeError("not a list")
    return [whole(item) for item in value]
