"""What votes cost on a device, as values: each a number with where it is from and how far it may be off.

A model is read from a file (``file.py``); what follows from it for a profile is worked out in ``costs.py``.
"""

from typing import Any, ClassVar

import attrs

from htppower.profiles.field_limits import wanted
from htppower.votes.field_repr import field_repr

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

MEASURED = "measured"
SOURCE = "source"
ASSUMED = "assumed"
PROVENANCES = (MEASURED, SOURCE, ASSUMED)

# Longer than any call or sleep of a device that works.
_LONGEST_US = 60_000_000
_MOST_W = 1000
_MOST_J = 1000
_STEEPEST = 10
_FASTEST = 100
_LIMITS = "limits_of_value"


@attrs.frozen
class Quantity:
    """A number of a device model.

    Attributes:
        value: the number, in the unit that the name of its field ends in; where it was measured, the median.
        provenance: ``measured``, ``source`` or ``assumed``.
        of: what it is the value of, and where that was found or measured.
        range: the lowest and highest number that it may plausibly be; None where nobody says so.
        spread: where it was measured, the width of the middle half of what was measured, in the unit of the value.
        count: where it was measured, how often.
    """

    SAYS: ClassVar[str] = "A number, and where it is from."

    value: float = attrs.field(metadata=wanted("the number; where it was measured, the median."))
    provenance: str = attrs.field(
        metadata=wanted("measured on a device, found in a source, or assumed.", words=PROVENANCES)
    )
    of: str = attrs.field(metadata=wanted("what, and where it was found or measured.", one_line=True))
    range: tuple[float, ...] | None = attrs.field(
        default=None, metadata=wanted("the lowest and the highest that it may plausibly be.", exactly=2, optional=True)
    )
    spread: float | None = attrs.field(
        default=None,
        metadata=wanted("where it was measured, the width of the middle half of what was measured.", optional=True),
    )
    count: int | None = attrs.field(
        default=None, metadata=wanted("where it was measured, how often.", limits=(1, 1_000_000_000), optional=True)
    )

    __repr__ = field_repr

    @property
    def assumed(self) -> bool:
        """Whether nobody has measured it."""
        return self.provenance == ASSUMED


def _quantity(says: str, most: int) -> dict[str, Any]:
    """Return the metadata of the field of a quantity, whose value, range and spread lie from 0 to the most."""
    return {**wanted(says), _LIMITS: (0, most)}


@attrs.frozen
class ProfileSpeed:
    """How fast the same work runs under a profile.

    Attributes:
        profile: the name of a shipped profile, or of one's own.
        speed: how fast, where burst is 1.
    """

    SAYS: ClassVar[str] = "How fast the same work runs under a profile."

    profile: str = attrs.field(metadata=wanted("the name of a profile.", is_name=True))
    speed: Quantity = attrs.field(metadata=_quantity("how fast the same work runs, where burst is 1.", _FASTEST))

    __repr__ = field_repr


@attrs.frozen
class Wake:
    """How late an inference is that begins after idle with its votes up, by the sleep latency that is voted.

    Attributes:
        sleep_latency_us: the sleep latency of the votes, in us.
        late_us: how much longer the inference takes than one that follows another at once, in us.
    """

    SAYS: ClassVar[str] = "How late an inference is after idle with its votes up, at one sleep latency."

    sleep_latency_us: int = attrs.field(metadata=wanted("the sleep latency that is voted, in us.", limits=(10, 65535)))
    late_us: Quantity = attrs.field(
        metadata=_quantity("how much longer it takes than one that follows another at once, in us.", _LONGEST_US)
    )

    __repr__ = field_repr


@attrs.frozen
class DeviceModel:
    """What votes, idling and inferences cost on a device.

    Attributes:
        device: its name, such as ``snapdragon_x_elite``.
        summary: one sentence.
        raise_call_us: how long the setPowerConfig calls take that raise a profile's votes, in us.
        lower_call_us: how long those take that lower them, in us.
        raise_late_us: how much longer an inference takes that waits for a raise than one that follows another at once,
            in us, the call included.
        call_j: the energy of one call, in J.
        active_w: the power while an inference runs at burst, in W, polling left out.
        active_exponent: with which power of the speed it falls under other profiles.
        raised_idle_w: the power at burst while votes are up and nothing runs, in W, polling left out.
        raised_idle_exponent: with which power of the speed its part above ``relaxed_idle_w`` falls under others.
        relaxed_idle_w: the power while votes are lowered to a power state that still asks for a clock, in W.
        released_idle_w: the power while votes are lowered to one that asks for none, in W.
        polling_w: the power of a CPU that polls for the answer of an inference, in W.
        polling_saves_us: how much sooner the answer of an inference is there with polling than without, in us.
        speeds: how fast the same work runs, by profile; burst is 1.
        wakes: how late an inference is after idle with its votes up, by sleep latency.
    """

    SAYS: ClassVar[str] = "A device model: what votes, idling and inferences cost on a device."

    device: str = attrs.field(metadata=wanted("its name, by which it is found.", is_name=True))
    summary: str = attrs.field(metadata=wanted("one sentence.", one_line=True))
    raise_call_us: Quantity = attrs.field(
        metadata=_quantity("how long a call takes that raises votes, in us.", _LONGEST_US)
    )
    lower_call_us: Quantity = attrs.field(
        metadata=_quantity("how long a call takes that lowers votes, in us.", _LONGEST_US)
    )
    raise_late_us: Quantity = attrs.field(
        metadata=_quantity(
            "how much longer an inference takes that waits for a raise, in us, the call included.", _LONGEST_US
        )
    )
    call_j: Quantity = attrs.field(metadata=_quantity("the energy of one call, in J.", _MOST_J))
    active_w: Quantity = attrs.field(
        metadata=_quantity("the power while an inference runs at burst, in W, polling left out.", _MOST_W)
    )
    active_exponent: Quantity = attrs.field(
        metadata=_quantity("with which power of the speed it falls under other profiles.", _STEEPEST)
    )
    raised_idle_w: Quantity = attrs.field(
        metadata=_quantity("the power at burst while votes are up and nothing runs, in W, polling left out.", _MOST_W)
    )
    raised_idle_exponent: Quantity = attrs.field(
        metadata=_quantity(
            "with which power of the speed its part above relaxed_idle_w falls under other profiles.", _STEEPEST
        )
    )
    relaxed_idle_w: Quantity = attrs.field(
        metadata=_quantity("the power while votes are lowered to a power state that asks for a clock, in W.", _MOST_W)
    )
    released_idle_w: Quantity = attrs.field(
        metadata=_quantity("the power while votes are lowered to one that asks for none, in W.", _MOST_W)
    )
    polling_w: Quantity = attrs.field(metadata=_quantity("the power of a CPU that polls for an answer, in W.", _MOST_W))
    polling_saves_us: Quantity = attrs.field(
        metadata=_quantity("how much sooner an answer is there with polling, in us.", _LONGEST_US)
    )
    speeds: tuple[ProfileSpeed, ...] = attrs.field(
        metadata=wanted("how fast the same work runs, by profile.", fewest=1)
    )
    wakes: tuple[Wake, ...] = attrs.field(
        metadata=wanted("how late an inference is after idle with votes up, by sleep latency.", fewest=1)
    )

    __repr__ = field_repr

    def quantities(self) -> dict[str, Quantity]:
        """Return every quantity by its name: ``active_w``, ``speeds.balanced``, ``wakes.100``."""
        found = {name: getattr(self, name) for name in LIMITS_OF_VALUES if name not in ("speed", "late_us")}
        found.update({f"speeds.{each.profile}": each.speed for each in self.speeds})
        found.update({f"wakes.{each.sleep_latency_us}": each.late_us for each in self.wakes})
        return found

    def with_quantity(self, name: str, quantity: Quantity) -> "DeviceModel":
        """Return the model with one quantity, by a name of ``quantities``, in the place of its own.

        Raises:
            KeyError: it has none of that name.
        """
        if name not in self.quantities():
            raise KeyError(name)
        of, _, item = name.partition(".")
        if of == "speeds":
            speeds = tuple(attrs.evolve(at, speed=quantity) if at.profile == item else at for at in self.speeds)
            return attrs.evolve(self, speeds=speeds)
        if of == "wakes":
            wakes = tuple(
                attrs.evolve(at, late_us=quantity) if at.sleep_latency_us == int(item) else at for at in self.wakes
            )
            return attrs.evolve(self, wakes=wakes)
        changed: dict[str, Any] = {name: quantity}
        return attrs.evolve(self, **changed)

    def with_value(self, name: str, value: float) -> "DeviceModel":
        """Return the model with another value of one quantity, all else that is said of it being left as it is.

        Raises:
            KeyError: it has no quantity of that name.
        """
        return self.with_quantity(name, attrs.evolve(self.quantities()[name], value=value))


def _limits_of_values() -> dict[str, tuple[int, int]]:
    return {
        field.name: field.metadata[_LIMITS]
        for kind in (DeviceModel, ProfileSpeed, Wake)
        for field in attrs.fields(kind)
        if _LIMITS in field.metadata
    }


# Between which numbers a value lies, by the name of the field that holds the quantity.
LIMITS_OF_VALUES = _limits_of_values()
