"""The costs of votes on a device, as values: each is a number with its source and its plausible range.

``file.py`` reads a model from a file; ``costs.py`` calculates the costs of a profile from it.
"""

from typing import Any, ClassVar

import attrs

from htppower.profiles.field_limits import wanted

# No postponed annotations here: the types of the fields are read at run time, and resolving them would slow the start.

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
        value: the number, in the unit that the name of its field ends in. If it was measured, the median.
        provenance: ``measured``, ``source`` or ``assumed``.
        of: the meaning of the value, and the source or the device.
        range: the lowest and highest plausible number; None if not known.
        spread: if the value was measured, the width of the middle half of the measurements, in the unit of the value.
        count: if the value was measured, how often.
    """

    SAYS: ClassVar[str] = "A number, with its source."

    value: float = attrs.field(metadata=wanted("the number; if it was measured, the median."))
    provenance: str = attrs.field(
        metadata=wanted("measured on a device, found in a source, or assumed.", words=PROVENANCES)
    )
    of: str = attrs.field(metadata=wanted("the meaning of the value, and the source or the device.", one_line=True))
    range: tuple[float, ...] | None = attrs.field(
        default=None, metadata=wanted("the lowest and the highest plausible number.", exactly=2, optional=True)
    )
    spread: float | None = attrs.field(
        default=None,
        metadata=wanted("if it was measured, the width of the middle half of the measurements.", optional=True),
    )
    count: int | None = attrs.field(
        default=None, metadata=wanted("if it was measured, how often.", limits=(1, 1_000_000_000), optional=True)
    )

    @property
    def assumed(self) -> bool:
        """Whether the value is an assumption, without a measurement or a source."""
        return self.provenance == ASSUMED


def _quantity(says: str, most: int) -> dict[str, Any]:
    """Return the metadata of the field of a quantity; its value, range and spread must lie from 0 to ``most``."""
    return {**wanted(says), _LIMITS: (0, most)}


@attrs.frozen
class ProfileSpeed:
    """How fast the same work runs under a profile.

    Attributes:
        profile: the name of a profile, shipped or the user's own.
        speed: the speed relative to burst, which is 1.
    """

    SAYS: ClassVar[str] = "How fast the same work runs under a profile."

    profile: str = attrs.field(metadata=wanted("the name of a profile.", is_name=True))
    speed: Quantity = attrs.field(metadata=_quantity("how fast the same work runs; burst is 1.", _FASTEST))


@attrs.frozen
class Wake:
    """The delay of an inference after an idle time with its votes up, at one sleep latency.

    Attributes:
        sleep_latency_us: the sleep latency of the votes, in us.
        late_us: how much longer the inference takes than an inference right after another one, in us.
    """

    SAYS: ClassVar[str] = "The delay of an inference after an idle time with its votes up, at one sleep latency."

    sleep_latency_us: int = attrs.field(metadata=wanted("the sleep latency of the votes, in us.", limits=(10, 65535)))
    late_us: Quantity = attrs.field(
        metadata=_quantity("how much longer it takes than an inference right after another one, in us.", _LONGEST_US)
    )


@attrs.frozen
class DeviceModel:
    """What votes, idling and inferences cost on a device.

    Attributes:
        device: its name, such as ``snapdragon_x_elite``.
        summary: one sentence.
        raise_call_us: how long the setPowerConfig calls that raise a profile's votes take, in us.
        lower_call_us: how long the calls that lower the votes take, in us.
        raise_late_us: how much longer an inference that waits for a raise takes than an inference right after another
            one, in us, including the call.
        call_j: the energy of one call, in J.
        active_w: the power while an inference runs at burst, in W, without polling.
        active_exponent: under other profiles, ``active_w`` is multiplied by the speed to the power of this.
        raised_idle_w: the power at burst while votes are up and nothing runs, in W, without polling.
        raised_idle_exponent: under other profiles, the part of ``raised_idle_w`` above ``relaxed_idle_w`` is multiplied
            by the speed to the power of this.
        relaxed_idle_w: the power while votes are lowered to a power state that asks for a clock, in W.
        released_idle_w: the power while votes are lowered to a power state that asks for no clock, in W.
        polling_w: the power of a CPU that polls for the answer of an inference, in W.
        polling_saves_us: how much sooner the answer of an inference arrives with polling, in us.
        speeds: how fast the same work runs, by profile; burst is 1.
        wakes: the delay of an inference after an idle time with its votes up, by sleep latency.
    """

    SAYS: ClassVar[str] = "A device model: what votes, idling and inferences cost on a device."

    device: str = attrs.field(metadata=wanted("the name of the device model.", is_name=True))
    summary: str = attrs.field(metadata=wanted("one sentence.", one_line=True))
    raise_call_us: Quantity = attrs.field(
        metadata=_quantity("how long a call that raises votes takes, in us.", _LONGEST_US)
    )
    lower_call_us: Quantity = attrs.field(
        metadata=_quantity("how long a call that lowers votes takes, in us.", _LONGEST_US)
    )
    raise_late_us: Quantity = attrs.field(
        metadata=_quantity(
            "how much longer an inference that waits for a raise takes, in us, including the call.", _LONGEST_US
        )
    )
    call_j: Quantity = attrs.field(metadata=_quantity("the energy of one call, in J.", _MOST_J))
    active_w: Quantity = attrs.field(
        metadata=_quantity("the power while an inference runs at burst, in W, without polling.", _MOST_W)
    )
    active_exponent: Quantity = attrs.field(
        metadata=_quantity("under other profiles, active_w is multiplied by the speed to the power of this.", _STEEPEST)
    )
    raised_idle_w: Quantity = attrs.field(
        metadata=_quantity("the power at burst while votes are up and nothing runs, in W, without polling.", _MOST_W)
    )
    raised_idle_exponent: Quantity = attrs.field(
        metadata=_quantity(
            "under other profiles, the part of raised_idle_w above relaxed_idle_w is multiplied by the speed to the "
            "power of this.",
            _STEEPEST,
        )
    )
    relaxed_idle_w: Quantity = attrs.field(
        metadata=_quantity("the power while votes are lowered to a power state that asks for a clock, in W.", _MOST_W)
    )
    released_idle_w: Quantity = attrs.field(
        metadata=_quantity("the power while votes are lowered to a power state that asks for no clock, in W.", _MOST_W)
    )
    polling_w: Quantity = attrs.field(metadata=_quantity("the power of a CPU that polls for an answer, in W.", _MOST_W))
    polling_saves_us: Quantity = attrs.field(
        metadata=_quantity("how much sooner an answer arrives with polling, in us.", _LONGEST_US)
    )
    speeds: tuple[ProfileSpeed, ...] = attrs.field(
        metadata=wanted("how fast the same work runs, by profile.", fewest=1)
    )
    wakes: tuple[Wake, ...] = attrs.field(
        metadata=wanted("the delay of an inference after an idle time with votes up, by sleep latency.", fewest=1)
    )

    def quantities(self) -> dict[str, Quantity]:
        """Return every quantity by its name: ``active_w``, ``speeds.balanced``, ``wakes.100``."""
        found = {name: getattr(self, name) for name in LIMITS_OF_VALUES if name not in ("speed", "late_us")}
        found.update({f"speeds.{each.profile}": each.speed for each in self.speeds})
        found.update({f"wakes.{each.sleep_latency_us}": each.late_us for each in self.wakes})
        return found

    def with_quantity(self, name: str, quantity: Quantity) -> "DeviceModel":
        """Return the model with one quantity replaced; the name is one of ``quantities``.

        Raises:
            KeyError: the model has no quantity of that name.
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
        """Return the model with the value of one quantity replaced; the other fields of the quantity stay.

        Raises:
            KeyError: the model has no quantity of that name.
        """
        return self.with_quantity(name, attrs.evolve(self.quantities()[name], value=value))


def _limits_of_values() -> dict[str, tuple[int, int]]:
    return {
        field.name: field.metadata[_LIMITS]
        for kind in (DeviceModel, ProfileSpeed, Wake)
        for field in attrs.fields(kind)
        if _LIMITS in field.metadata
    }


# The lowest and the highest allowed value, by the name of the field that holds the quantity.
LIMITS_OF_VALUES = _limits_of_values()
