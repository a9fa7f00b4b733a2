"""What the customer can do now: one sentence per code, with the dates and numbers of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional

from keyward import DeviceUse, KeywardNetworkError, Links, Refused

_STEPS = {
    "appDisabled": "The vendor has ended this program. Ask the vendor what replaces it.",
    "pausedApp": "The vendor has paused this program. Try again later.",
    "hashCheckFail": "This copy is damaged or changed. Install Tally again.",
    "sessionUnauthed": "Start Tally once with --key YOUR-LICENSE-KEY.",
    "keyNotFound": "Check the key for typing mistakes.",
    "keyBanned": "Ask the vendor for another key.",
    "pausedSub": "Your license is paused. Ask the vendor when it goes on.",
    "noActiveSubs": "Your license ended{on}. Renew it, then start Tally again.",
    "updatesEnded": "Your license does not cover this version. Install an earlier one, or renew your updates.",
    "versionTooOld": "Install {release}.",
    "hwidBlacklisted": "The vendor has blocked this computer or address. Ask the vendor.",
    "hwidMismatch": "Your license is in use on {devices} computers. Ask the vendor to free one.",
    "vpnBlocked": "Turn off the VPN, then start Tally again.",
    "noSeats": "All {seats} seats are in use. Try again {until}.",
}
_NETWORK_STEPS = {
    "captive_portal": "Sign in to your network in a browser, then start Tally again.",
    "certificate": "Something on this network replaces the server. Try another network, or ask your administrator.",
    "clock": "Correct the clock of this computer, then start Tally again.",
}
_OFFLINE_STEPS = {
    "lease_ended": "Tally has worked offline for as long as it may. Go online, then start Tally again.",
    "clock_set_back": "The clock of this machine was set back: correct it, or go online.",
}


def next_step(refused: Refused) -> str:
    details = refused.details
    ended = details.expires_at if details else None
    until = details.until if details else None
    return _STEPS.get(refused.code, "Ask the vendor.").format(
        on=f" on {day(ended)}" if ended else "",
        until=f"at {moment(until)}" if until else "later",
        devices=_count(details.devices if details else None),
        seats=_count(details.seats if details else None),
        release=f"version {details.release.version}" if details and details.release else "a newer version",
    )


@dataclass(frozen=True)
class Page:
    """A page of the vendor's shop. Its address knows the license: once it is paid, the same key goes on."""

    name: str
    url: str


def shop_pages(links: Optional[Links]) -> List[Page]:
    """The pages that a customer can open now. Only web pages: another address could start a program."""
    if links is None:
        return []
    pages = [("Renew", links.renew), *((each.name, each.url) for each in links.upgrades), ("Buy", links.buy)]
    return [Page(name, url) for name, url in pages if url and url.startswith(("https://", "http://"))]


def next_network_step(error: KeywardNetworkError) -> str:
    if error.offline in _OFFLINE_STEPS:
        return _OFFLINE_STEPS[error.offline]
    if error.code == "rate_limited":
        return f"Try again in {(error.retry_after_ms or 60_000) // 1000} seconds."
    return _NETWORK_STEPS.get(error.code, "Check your connection, then start Tally again.")


def day(iso: str) -> str:
    return iso[:10]


def moment(iso: str) -> str:
    return f"{iso[:16].replace('T', ' ')} UTC"


def _count(use: Optional[DeviceUse]) -> str:
    return f"{use.used} of {use.limit}" if use else "all"
