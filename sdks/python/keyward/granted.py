"""The results of calls that the server granted, or that came too late."""

from __future__ import annotations

from typing import Any, Dict, List

from .errors import KeywardNetworkError
from .results import Refused, UserData, to_advisory, to_user
from .transport import Delivered


def overtaken() -> Refused:
    """The result of a sign-in or ``session`` that was granted only after the user had signed out."""
    return Refused("sessionUnauthed", "The user signed out before this call was finished")


def to_user_data(outcome: Delivered) -> UserData:
    user, advisory = to_user(to_object(outcome, "user")), to_advisory(outcome.data.get("advisory"))
    return UserData(outcome.message, outcome.data, user, None, advisory)


def to_object(outcome: Delivered, name: str) -> Dict[str, Any]:
    found = outcome.data.get(name)
    if isinstance(found, dict):
        return found
    raise unexpected(name)


def to_list(outcome: Delivered, name: str) -> List[Dict[str, Any]]:
    found = outcome.data.get(name)
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return found
    raise unexpected(name)


def unexpected(what: str) -> KeywardNetworkError:
    message = f"The answer to {what} is incomplete"
    return KeywardNetworkError("unexpected_answer", message, outcome_unknown=True)
