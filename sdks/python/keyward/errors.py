"""The errors that the SDK raises. A refused license is a result, not an error."""

from __future__ import annotations

from typing import Any, Callable, Dict, Literal, Optional, Tuple, Type

NetworkErrorCode = Literal[
    # No connection was established; the request was not sent.
    "unreachable",
    # The server's certificate is not trusted, has expired, or is of another name; the request was not sent.
    "certificate",
    # The server's certificate is not valid yet: the clock of this computer is behind; the request was not sent.
    "clock",
    # The connection broke before the response was complete.
    "connection_lost",
    # ``timeout_ms`` elapsed, including retries.
    "timed_out",
    # The server responded with 429; ``retry_after_ms`` is set if it sent Retry-After.
    "rate_limited",
    # The server responded with 5xx.
    "server_error",
    # A web page or a redirect answered: a sign-in page of the network, or ``base_url`` is another site.
    "captive_portal",
    # The server at ``base_url`` has no such call: ``base_url`` is wrong, or the server is older than this SDK. Or an
    # update is not at its address.
    "wrong_address",
    # The server knows no app with this ``app_id``, and therefore cannot sign.
    "unknown_app",
    # Something else answered, without the server's signature: a firewall, a proxy, a content network; see ``status``.
    "blocked",
    # The response is genuine, but this version of the SDK does not understand it.
    "unexpected_answer",
]

SignatureErrorCode = Literal[
    # ``Signature`` or ``Signature-Input`` cannot be parsed, or one of them is missing.
    "malformed_signature",
    # The signature does not cover exactly the components that the protocol requires, in its order.
    "wrong_coverage",
    # The parameters are not ``created``, ``keyid`` and ``alg="ed25519"``.
    "wrong_parameters",
    # Signed with a key that is not in ``public_keys``.
    "unknown_key",
    # The body does not match ``Content-Digest``, or a downloaded update the digest that the server has signed.
    "digest_mismatch",
    # The signature does not match this request and response.
    "bad_signature",
    # The body of a signed response is larger than any of a server (256 KiB).
    "body_too_large",
]

UsageErrorCode = Literal[
    # A constructor option is missing or invalid.
    "invalid_options",
    # An argument of a call is missing or has the wrong type.
    "invalid_argument",
    # No unique hardware id was found on this machine, or the function ``hwid`` failed.
    "hwid_unavailable",
    # The machine's id exists but could not be read, in three attempts; try again later.
    "hwid_unreadable",
    # The installed ``cryptography`` cannot verify Ed25519 signatures.
    "crypto_unavailable",
    # The activation file is not for this app, this machine or its last request, it has ended, or the clock is behind.
    "activation_rejected",
    # There is no activation that could be ended.
    "no_activation",
    # The storage cannot be read or written, so nothing was changed; or the folder of an update cannot.
    "storage_failed",
]

OfflineProblem = Literal["no_lease", "lease_ended", "clock_set_back"]


class KeywardError(Exception):
    """Base class of all errors that the SDK raises."""

    code: str

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> Tuple[Callable[..., Any], Tuple[Any, ...], Dict[str, Any]]:
        return (_restore, (type(self), self.args), dict(self.__dict__))


class KeywardNetworkError(KeywardError):
    """No verdict, because there is no usable response. Retry later; do not treat it as a refusal."""

    code: NetworkErrorCode
    #: The HTTP status, if there was a response.
    status: Optional[int]
    #: How long the server asks to wait, in milliseconds, if it sent Retry-After.
    retry_after_ms: Optional[int]
    #: True if the server may have executed the call although no response arrived. After ``register``, try ``login``
    #: with the same username and password; after ``upgrade``, check the user's expiry.
    outcome_unknown: bool
    #: Why what is stored could not answer instead of the server, with the option ``storage``.
    offline: Optional[OfflineProblem]

    def __init__(
        self,
        code: NetworkErrorCode,
        message: str,
        *,
        outcome_unknown: bool,
        status: Optional[int] = None,
        retry_after_ms: Optional[int] = None,
    ) -> None:
        super().__init__(code, message)
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.outcome_unknown = outcome_unknown
        self.offline = None


class KeywardSignatureError(KeywardError):
    """A response with a signature that does not prove it to be the server's response to this request. Do not continue."""

    code: SignatureErrorCode
    #: The HTTP status of the rejected response.
    status: int

    def __init__(self, code: SignatureErrorCode, message: str, status: int) -> None:
        super().__init__(code, message)
        self.status = status


class KeywardUsageError(KeywardError):
    """A mistake in the calling program; retrying does not help."""

    code: UsageErrorCode

    def __init__(self, code: UsageErrorCode, message: str) -> None:
        super().__init__(code, message)


def _restore(kind: Type[KeywardError], args: Tuple[Any, ...]) -> KeywardError:
    error = kind.__new__(kind)
    error.args = args
    return error
