"""What the calls return. Times are ISO 8601 UTC, as the server sent them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Literal, Mapping, Optional, Tuple, Union

from .codes import LicenseState

Json = Mapping[str, Any]


@dataclass(frozen=True)
class DeviceUse:
    """How many places are used, of how many; a limit of -1 is unlimited."""

    used: int
    limit: int


@dataclass(frozen=True)
class Seat:
    """The seat of a floating license."""

    #: Call ``session`` before it ends.
    until: str


@dataclass(frozen=True)
class Upgrade:
    """A page of the vendor's shop for another type of license."""

    name: str
    url: str


@dataclass(frozen=True)
class Links:
    """Pages of the vendor's shop, which know the license: a program opens them for its user."""

    #: Where to buy a license; None if the vendor has set none, like the others.
    buy: Optional[str]
    renew: Optional[str]
    upgrades: Tuple[Upgrade, ...]


@dataclass(frozen=True)
class Advisory:
    """A vulnerability of the program's version."""

    #: The version that repairs it; None if none is left.
    version: Optional[str]
    #: ``low``, ``medium``, ``high`` or ``critical``.
    severity: str
    summary: str
    #: A page about it.
    url: Optional[str]


@dataclass(frozen=True)
class OfferedRelease:
    """The newest version that a license may use."""

    version: str
    url: Optional[str]


@dataclass(frozen=True)
class Artifact:
    """A file of a release. Digests are in lower-case hex."""

    platform: str
    architecture: str
    #: Such as ``installer``, ``archive``, ``full`` or ``delta``.
    kind: str
    name: str
    url: str
    #: Bytes.
    size: int
    sha512: str
    sha256: Optional[str]
    sha1: Optional[str]
    #: The vendor's own.
    signature: Optional[str]
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class SecurityFix:
    severity: str
    summary: str
    #: A page about the vulnerability.
    advisory: Optional[str]
    #: With ``affects``, the affected versions.
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class Update:
    version: str
    released_at: str
    #: Markdown.
    notes: Optional[str]
    #: Where people download it.
    url: Optional[str]
    #: The file for this machine; None for a release without files.
    artifact: Optional[Artifact]
    #: Set for a release that repairs a vulnerability.
    security: Optional[SecurityFix]
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class Beyond:
    """A newer version that the license does not cover, and where to renew."""

    version: str
    links: Optional[Links]


@dataclass(frozen=True)
class User:
    """The signed-in end user."""

    id: str
    #: The license key itself for users who signed in by key alone.
    username: str
    email: Optional[str]
    #: When the license ends; None if it never expires.
    expires_at: Optional[str]
    #: True after ``expires_at``, while the vendor's grace days still allow access.
    in_grace: bool
    #: ``date``: until a date; ``forever``: never expires; ``first_use``: for a duration since the first use.
    term: Optional[Literal["date", "forever", "first_use"]]
    created_at: Optional[str]
    last_login_at: Optional[str]
    #: Whether the user is bound to a machine.
    hwid_bound: bool
    #: Names of the features that the license includes; see ``has``.
    features: Tuple[str, ...]
    #: The app's variables for signed-in users, and the user's own, by name; see ``variable``.
    variables: Mapping[str, str]
    #: The license covers versions released until then; None if it covers all.
    updates_until: Optional[str]
    #: How many devices the user has; None if the server did not say.
    devices: Optional[DeviceUse]
    #: None for licenses that are not floating.
    seat: Optional[Seat]
    #: Where to buy, renew and upgrade: after a sign-in, ``trial`` and ``upgrade``, not after ``session``.
    links: Optional[Links]
    #: The object as the server sent it, with its names.
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class OfflineState:
    """How long a program may go on without the server."""

    #: When the lease or the activation ends; None if the activation never ends.
    until: Optional[str]
    #: When the program must stop; None for never.
    grace_until: Optional[str]
    #: True between the two: tell the user to go online.
    in_grace: bool


@dataclass(frozen=True)
class AppInfo:
    name: str
    #: The current version on the server.
    version: str


@dataclass(frozen=True)
class ValidatedLicense:
    key: str
    used: bool
    username: Optional[str]
    #: None if it never expires, or if its duration starts with the first use.
    expires_at: Optional[str]
    #: True after ``expires_at``, while the vendor's grace days still allow access.
    in_grace: bool
    term: Optional[Literal["date", "forever", "first_use"]]
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class Device:
    """A machine on which the user has signed in."""

    id: str
    name: Optional[str]
    system: Optional[str]
    first_seen_at: str
    last_seen_at: str


@dataclass(frozen=True)
class RefusalDetails:
    """Facts behind a refusal; None for what the server did not say."""

    #: When the license ends or ended; None also for never.
    expires_at: Optional[str]
    #: When a license that counts from its first use was first used.
    started_at: Optional[str]
    devices: Optional[DeviceUse]
    seats: Optional[DeviceUse]
    #: When another try may succeed.
    until: Optional[str]
    #: Where to buy, renew and upgrade, with refusals that a purchase mends.
    links: Optional[Links]
    #: With ``updatesEnded`` and ``versionTooOld``: the newest version that the license may use.
    release: Optional[OfferedRelease]
    #: A vulnerability of the program's version.
    advisory: Optional[Advisory]
    #: The object as the server sent it: newer servers may send more.
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class InputError:
    """An invalid input."""

    path: str
    message: str


@dataclass(frozen=True)
class Granted:
    """A signed success."""

    message: Optional[str]
    #: The data as the server sent it, with its names.
    raw: Json = field(repr=False, compare=False)

    @property
    def ok(self) -> Literal[True]:
        return True

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(frozen=True)
class InitData(Granted):
    #: When the session expires unless it is used.
    expires_at: Optional[str]
    app: AppInfo
    #: True when the server's version is newer than the ``version`` of the program.
    update_available: bool
    #: The app's public variables by name; see ``variable``.
    variables: Mapping[str, str]
    #: A vulnerability of the program's version.
    advisory: Optional[Advisory]


@dataclass(frozen=True)
class UserData(Granted):
    user: User
    #: Set if a lease or an activation of this machine answered instead of the server.
    offline: Optional[OfflineState]
    #: A vulnerability of the program's version: after ``session`` alone.
    advisory: Optional[Advisory] = None


@dataclass(frozen=True)
class UpdateData(Granted):
    #: The newest version that the license covers and that this one may update to; None if there is none.
    update: Optional[Update]
    beyond: Optional[Beyond]


@dataclass(frozen=True)
class DevicesData(Granted):
    #: The device seen last comes first; at most 200.
    devices: Tuple[Device, ...]


@dataclass(frozen=True)
class ValidateData(Granted):
    license: ValidatedLicense
    #: Whether this machine is a device of the license. False for an unused key: it is valid on any number of machines.
    activated: bool


@dataclass(frozen=True)
class Refused:
    """
    A signed refusal: the server's verdict with the app owner's text for it. Only a call that a ``logout`` has overtaken
    ends with ``sessionUnauthed`` and a text of the SDK. False in conditions.
    """

    #: One of ``LicenseState``, or a general code such as ``invalid_input``.
    code: Union[LicenseState, str]
    #: The text to show to the end user.
    message: str
    #: Names this refusal: show it to the end user, and the app's owner finds the reason in the console.
    reference: Optional[str] = None
    #: Facts for the end user; only after the password or the license key was right.
    details: Optional[RefusalDetails] = None
    #: Invalid inputs, if ``code`` is ``invalid_input``.
    errors: Tuple[InputError, ...] = ()

    @property
    def ok(self) -> Literal[False]:
        return False

    def __bool__(self) -> Literal[False]:
        return False


def to_user(raw: Json) -> User:
    return User(
        id=raw.get("_id", ""),
        username=raw.get("username", ""),
        email=raw.get("email"),
        expires_at=raw.get("expiresAt"),
        in_grace=raw.get("inGrace") is True,
        term=raw.get("term"),
        created_at=raw.get("createdAt"),
        last_login_at=raw.get("lastLoginAt"),
        hwid_bound=raw.get("hwidBound") is True,
        features=tuple(each for each in _list(raw.get("features")) if isinstance(each, str)),
        variables=to_texts(raw.get("variables")),
        updates_until=raw.get("updatesUntil"),
        devices=_to_use(raw.get("devices")),
        seat=_to_seat(raw.get("seat")),
        links=_to_links(raw.get("links")),
        raw=raw,
    )


def to_license(raw: Json) -> ValidatedLicense:
    return ValidatedLicense(
        key=raw.get("key", ""),
        used=raw.get("used") is True,
        username=raw.get("username"),
        expires_at=raw.get("expiresAt"),
        in_grace=raw.get("inGrace") is True,
        term=raw.get("term"),
        raw=raw,
    )


def to_device(raw: Json) -> Device:
    return Device(
        id=raw.get("_id", ""),
        name=raw.get("name"),
        system=raw.get("system"),
        first_seen_at=raw.get("firstSeenAt", ""),
        last_seen_at=raw.get("lastSeenAt", ""),
    )


def to_refused(code: str, message: str, facts: Json, errors: object = None) -> Refused:
    """A refusal with what it carries besides code and text."""
    reference, details = facts.get("reference"), facts.get("details")
    return Refused(
        code=code,
        message=message,
        reference=reference if isinstance(reference, str) else None,
        details=_to_details(details) if isinstance(details, dict) else None,
        errors=tuple(
            InputError(str(each.get("path", "")), str(each.get("message", "")))
            for each in _list(errors)
            if isinstance(each, dict)
        ),
    )


def to_texts(variables: object) -> Dict[str, str]:
    """Servers of earlier versions send no variables."""
    if not isinstance(variables, dict):
        return {}
    return {name: value for name, value in variables.items() if isinstance(value, str)}


def _to_details(raw: Json) -> RefusalDetails:
    return RefusalDetails(
        expires_at=raw.get("expiresAt"),
        started_at=raw.get("startedAt"),
        devices=_to_use(raw.get("devices")),
        seats=_to_use(raw.get("seats")),
        until=raw.get("until"),
        links=_to_links(raw.get("links")),
        release=_to_release(raw.get("release")),
        advisory=to_advisory(raw.get("advisory")),
        raw=raw,
    )


def to_advisory(raw: object) -> Optional[Advisory]:
    if not isinstance(raw, dict):
        return None
    return Advisory(raw.get("version"), raw.get("severity", ""), raw.get("summary", ""), raw.get("url"))


def to_update(raw: object) -> Optional[Update]:
    if not isinstance(raw, dict):
        return None
    return Update(
        version=raw.get("version", ""),
        released_at=raw.get("releasedAt", ""),
        notes=raw.get("notes"),
        url=raw.get("url"),
        artifact=_to_artifact(raw.get("artifact")),
        security=_to_security(raw.get("security")),
        raw=raw,
    )


def to_beyond(raw: object) -> Optional[Beyond]:
    return Beyond(raw.get("version", ""), _to_links(raw.get("links"))) if isinstance(raw, dict) else None


def _to_artifact(raw: object) -> Optional[Artifact]:
    if not isinstance(raw, dict):
        return None
    texts = {name: raw.get(name, "") for name in ("platform", "architecture", "kind", "name", "url", "sha512")}
    optional = {name: raw.get(name) for name in ("sha256", "sha1", "signature")}
    return Artifact(**texts, **optional, size=raw.get("size", 0), raw=raw)


def _to_security(raw: object) -> Optional[SecurityFix]:
    if not isinstance(raw, dict):
        return None
    return SecurityFix(raw.get("severity", ""), raw.get("summary", ""), raw.get("advisory"), raw)


def _to_links(raw: object) -> Optional[Links]:
    if not isinstance(raw, dict):
        return None
    upgrades = (each for each in _list(raw.get("upgrades")) if isinstance(each, dict))
    pages = tuple(Upgrade(each.get("name", ""), each.get("url", "")) for each in upgrades)
    return Links(raw.get("buy"), raw.get("renew"), pages)


def _to_release(raw: object) -> Optional[OfferedRelease]:
    return OfferedRelease(raw.get("version", ""), raw.get("url")) if isinstance(raw, dict) else None


def _to_use(raw: object) -> Optional[DeviceUse]:
    return DeviceUse(raw.get("used", 0), raw.get("limit", 0)) if isinstance(raw, dict) else None


def _to_seat(raw: object) -> Optional[Seat]:
    return Seat(raw.get("until", "")) if isinstance(raw, dict) else None


def _list(value: object) -> List[Any]:
    return value if isinstance(value, list) else []
