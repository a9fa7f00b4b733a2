"""The license of this copy: everything that Tally knows about Keyward."""

from __future__ import annotations

from typing import Optional, Sequence, TypeVar, Union

from keyward import InitData, Keyward, KeywardNetworkError, Links, Refused, UserData

from .config import VERSION, read_config
from .next_step import Page, next_step, shop_pages

T = TypeVar("T", InitData, UserData)


class RefusedError(Exception):
    """The server rejected this copy: the vendor's text, what to do about it, and the reference of the refusal."""

    def __init__(self, text: str, pages: Sequence[Page] = ()) -> None:
        super().__init__(text)
        self.pages = pages


def connect() -> Keyward:
    """A client that keeps a lease, so that Tally works offline for as long as the vendor allows."""
    return Keyward(**read_config(), version=VERSION, storage="user-data")


class Gate:
    """Signs in, and lets each piece of work pass only while the license is valid."""

    def __init__(self, keyward: Keyward, key: str) -> None:
        self._keyward = keyward
        self.newer_version = self._newer_version()
        self.user = _granted(keyward.license(key)).user

    def check(self) -> UserData:
        """
        Call it before every piece of work: it raises once the license is no longer valid. Without a server it answers
        from what is stored, until that ends.
        """
        return _granted(self._keyward.session(), self.user.links)

    def has(self, feature: str) -> bool:
        """Whether the license includes a feature, by the last answer; signed, also offline."""
        return self._keyward.has(feature)

    def _newer_version(self) -> Optional[str]:
        try:
            opened = _granted(self._keyward.init())
        except KeywardNetworkError:
            # Offline there is no newer version to report; what is stored decides about the license.
            return None
        return opened.app.version if opened.update_available else None


def _granted(result: Union[T, Refused], known: Optional[Links] = None) -> T:
    """``known`` are the links of the sign-in: a refused check brings none."""
    if isinstance(result, Refused):
        reference = [f"Reference: {result.reference}"] if result.reference else []
        links = (result.details.links if result.details else None) or known
        raise RefusedError("\n".join([result.message, next_step(result), *reference]), shop_pages(links))
    return result
