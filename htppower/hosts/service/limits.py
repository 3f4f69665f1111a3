"""The file of a service: what each user may have, and what caps all leases."""

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs

from htppower.control.plans.precedence import exceeds
from htppower.errors import Finding, KeyPath, ProfileError
from htppower.hosts.service.messages import LONGEST_US
from htppower.profiles.cache import ProfileCache
from htppower.profiles.field_limits import field
from htppower.profiles.file_format import structure
from htppower.profiles.profile import Profile, without_process_settings
from htppower.profiles.strict_yaml import Document, read_document

# No `from __future__ import annotations`: the types of the fields are read.

# The entry for each user that has none of its own.
EVERYONE = "default"
_MOST = 1_000_000


@attrs.frozen
class UserFields:
    """The limits of one user."""

    SAYS: ClassVar[str] = "What one user may have at a time."

    user: str = field(
        f"the name of a user, or its number in quotes; {EVERYONE}: every user without an entry.", one_line=True
    )
    cap: str | None = field(
        "the highest profile for the user's leases, by name.", is_name=True, optional=True, may_be_unset=True
    )
    most_connections: int = field("the most connections.", limits=(0, _MOST), optional=True, default=256)
    most_leases: int = field("the most leases, over all connections.", limits=(0, _MOST), optional=True, default=64)
    messages_per_s: int = field(
        "the most messages in a second, over all connections; faster clients are read more slowly.",
        limits=(1, _MOST),
        optional=True,
        default=10_000,
    )
    longest_lease_us: int | None = field(
        "how long a lease may last, in microseconds.", limits=(1, LONGEST_US), optional=True, may_be_unset=True
    )


@attrs.frozen
class ThermalFields:
    """A cap by temperature."""

    SAYS: ClassVar[str] = "Caps all leases while the device is hot (Linux)."

    profile: str = field("the profile of the cap, by name.", is_name=True)
    above_c: float = field("the cap is set from this temperature on, in degrees Celsius.")
    below_c: float = field("the cap is lifted below this temperature, in degrees Celsius.")
    zones: str = field(
        "a pattern for the names of the thermal zones to read; without it all.",
        one_line=True,
        optional=True,
        default="*",
    )


@attrs.frozen
class ServiceFields:
    """The file of a service; it may be empty of every field but the first."""

    SAYS: ClassVar[str] = "What the users of `htppower serve` may have, and what caps all leases."

    service: str = field("the name of the service, which it prints at its start and tells each client.", is_name=True)
    most_connections: int = field(
        "the most connections of all users together.", limits=(1, _MOST), optional=True, default=1024
    )
    power_saver_cap: str | None = field(
        "the cap on all leases while the desktop's power profile is power-saver, by name (Linux).",
        is_name=True,
        optional=True,
        may_be_unset=True,
    )
    thermal_cap: ThermalFields | None = field("a cap by temperature.", optional=True)
    metrics_port: int | None = field(
        "the port on this machine where Prometheus finds the metrics.",
        limits=(1, 65_535),
        optional=True,
        may_be_unset=True,
    )
    users: tuple[UserFields, ...] = field("what users may have.", optional=True, default=())


@attrs.frozen
class Allowed:
    """The limits of one user, with the cap as a profile."""

    fields: UserFields
    cap: Profile | None

    def limited(self, profile: Profile) -> Profile:
        """Return the profile, or the user's cap if the profile goes beyond it."""
        return profile if self.cap is None or not exceeds(profile, self.cap) else self.cap


@attrs.frozen
class ServiceFile:
    """The file of a service with its names looked up.

    Attributes:
        fields: the file.
        users: what a user may have, by its number; None for every other user.
        names: the profiles of the caps on all leases, by name.
    """

    fields: ServiceFields
    users: Mapping[int | None, Allowed]
    names: Mapping[str, Profile]

    def allowed(self, uid: int | None) -> Allowed:
        """Return what a user may have; None is a user whose number the system does not tell."""
        return self.users.get(uid) or self.users[None]


def service_file(path: str | None, profiles: ProfileCache) -> ServiceFile:
    """Read the file of a service; without a path, every user has the limits of the defaults.

    Raises:
        ProfileError: the file can't be read, is invalid, or names a user or a profile that does not exist; the error
            lists every problem with its place.
    """
    if path is None:
        return _Names(profiles, _uid).file(ServiceFields("htppower"))
    found, document = _examined(read_document(path, "service"), _Names(profiles, _uid))
    if found is None or document.problems:
        raise ProfileError(document.problems)
    return found


def examine_service_file(path: str, profiles: ProfileCache, given: bytes | None = None) -> Document:
    """Return a file with all its problems, for a review: users that only another machine knows are accepted.

    If the content is ``given``, no file is read.
    """
    return _examined(read_document(path, "service", given), _Names(profiles, lambda user: user))[1]


def _examined(document: Document, names: "_Names") -> tuple[ServiceFile | None, Document]:
    fields, findings = structure(document.tree, ServiceFields)
    found = None if findings or document.problems else names.file(fields)
    problems = [*document.problems, *map(document.located, (*findings, *names.problems))]
    problems.sort(key=lambda each: (each.line, each.column))
    return found, attrs.evolve(document, problems=tuple(problems))


class _Names:
    """Looks up the profiles and the users that a file names, and keeps the problems."""

    def __init__(self, profiles: ProfileCache, user: Callable[[str], Any]) -> None:
        self._profiles = profiles
        self._user = user
        self._found: dict[str, Profile] = {}
        self.problems: list[Finding] = []

    def file(self, fields: ServiceFields) -> ServiceFile:
        """Return the file with its names looked up."""
        self._profile(fields.power_saver_cap, ("power_saver_cap",))
        if fields.thermal_cap is not None:
            self._profile(fields.thermal_cap.profile, ("thermal_cap", "profile"))
            self.problems += _wrong_temperatures(fields.thermal_cap)
        users: dict[int | None, Allowed] = {}
        for place, each in enumerate(fields.users):
            at = ("users", str(place))
            cap = self._profile(each.cap, (*at, "cap"))
            try:
                number = self._user(each.user)
            except KeyError:
                hint = f"the name of a user, its number in quotes, or {EVERYONE}"
                self.problems.append(Finding("VALUE-1", (*at, "user"), f"no user is {each.user!r}", hint))
                continue
            if number in users:
                message = f"the user {each.user} has two entries"
                self.problems.append(Finding("VALUE-1", (*at, "user"), message, "give it one"))
            users[number] = Allowed(each, cap)
        return ServiceFile(fields, {None: Allowed(UserFields(EVERYONE), None), **users}, self._found)

    def _profile(self, name: str | None, at: KeyPath) -> Profile | None:
        if name is None:
            return None
        try:
            self._found[name] = without_process_settings(self._profiles.load(name))
        except ProfileError as error:
            said = error.problems[0]
            self.problems.append(Finding(said.rule, at, said.message, said.hint))
        return self._found.get(name)


def _wrong_temperatures(thermal: ThermalFields) -> list[Finding]:
    if thermal.below_c < thermal.above_c:
        return []
    message = f"below_c is {thermal.below_c:g}, and above_c is {thermal.above_c:g}"
    return [Finding("VALUE-1", ("thermal_cap", "below_c"), message, "state a lower temperature for below_c")]


def _uid(user: str) -> int | None:
    """Return the number of a user; None means every user.

    Raises:
        KeyError: the user does not exist, or users have no numbers here.
    """
    if user == EVERYONE:
        return None
    if user.isascii() and user.isdigit() and os.name != "nt":
        return int(user)
    names: Callable[[str], Any] = _names()
    number: int = names(user).pw_uid
    return number


def _names() -> Callable[[str], Any]:
    try:
        import pwd  # noqa: PLC0415 - Windows has none
    except ImportError:
        raise KeyError from None
    return pwd.getpwnam
