"""Which answers are genuine: HTTP Message Signatures (RFC 9421) as the protocol prescribes them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Dict, Iterable, List, Literal, NoReturn, Optional, Tuple

from .errors import KeywardNetworkError, KeywardSignatureError, SignatureErrorCode
from .keys import KeyRing
from .structured_fields import (
    InnerList,
    Item,
    Member,
    Parameters,
    StructuredFieldError,
    parse_dictionary,
    serialize_string,
)
from .text import parse_object, to_base64

_LABEL = "keyward"
#: No genuine response is larger; reading stops beyond.
MAX_ANSWER_BYTES = 256 * 1024
_PAGE = re.compile(r"(?:text/html|application/xhtml\+xml)\b", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class SentRequest:
    """The parts of a request that the response's signature must cover."""

    method: str
    #: Path of the public URL, percent-encoded as sent, without the query.
    path: str
    nonce: str
    authorization: Optional[str] = None
    content_digest: Optional[str] = None


class ReceivedAnswer:
    """A response with its raw body, before any parsing; cut off somewhere beyond ``MAX_ANSWER_BYTES``."""

    def __init__(self, status: int, headers: Iterable[Tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.body = body
        self._headers: Dict[str, str] = {}
        for name, value in headers:
            name, value = name.lower(), value.strip(" \t")
            self._headers[name] = f"{self._headers[name]}, {value}" if name in self._headers else value

    def header(self, name: str) -> str:
        """The value of a header, joined if it is repeated; empty without one."""
        return self._headers.get(name, "").strip(" \t")


def content_digest(body: bytes) -> str:
    """The value of ``Content-Digest`` (RFC 9530) for a body."""
    return f"sha-256=:{to_base64(hashlib.sha256(body).digest())}:"


def signature_base(sent: SentRequest, answer: ReceivedAnswer, created: int, keyid: str) -> str:
    """The text that the server signed (RFC 9421, section 2.5)."""
    components = _expected_components(sent, answer)
    covered = " ".join(name for name, _ in components)
    params = f'created={created};keyid={serialize_string(keyid)};alg="ed25519"'
    lines = [f"{name}: {value}" for name, value in components]
    return "\n".join([*lines, f'"@signature-params": ({covered});{params}'])


def judge(
    sent: SentRequest, answer: ReceivedAnswer, keys: KeyRing
) -> Tuple[Literal["verdict", "unavailable"], Optional[int]]:
    """
    Classifies a response as a ``verdict``, or as ``unavailable`` (429 and 5xx, signed or not). Raises
    ``KeywardNetworkError`` for any other response without a signature, and ``KeywardSignatureError`` for one whose
    signature fails. The second value is the server's signing time in seconds; None without a signature.
    """
    created: Optional[int] = None
    unavailable = answer.status == 429 or answer.status >= 500
    signed = is_signed(answer)
    if not signed and (not unavailable or answer.status == 511):
        raise _to_stranger(answer)
    if signed:
        created = verify_answer(sent, answer, keys)
    return "unavailable" if unavailable else "verdict", created


def is_signed(answer: ReceivedAnswer) -> bool:
    """Whether a response has a signature with the protocol's label, valid or not."""
    for name in ("signature", "signature-input"):
        value = answer.header(name)
        try:
            if value != "" and _LABEL in parse_dictionary(value):
                return True
        except StructuredFieldError:
            # Malformed is not absent: the verification reports what is wrong.
            return True
    return False


def verify_answer(sent: SentRequest, answer: ReceivedAnswer, keys: KeyRing) -> int:
    """
    Verifies that a response is genuine, complete and meant for exactly this request. Returns the server's signing
    time in seconds; raises ``KeywardSignatureError`` otherwise.
    """

    def refuse(code: SignatureErrorCode, message: str) -> NoReturn:
        raise KeywardSignatureError(code, f"{message} ({sent.method} {sent.path})", answer.status)

    def dictionary(name: str) -> Dict[str, Member]:
        try:
            return parse_dictionary(answer.header(name))
        except StructuredFieldError as error:
            refuse("malformed_signature", f"{name}: {error}")

    if len(answer.body) > MAX_ANSWER_BYTES:
        refuse("body_too_large", f"The answer is larger than {MAX_ANSWER_BYTES} bytes")
    covered = dictionary("signature-input").get(_LABEL)
    signature = dictionary("signature").get(_LABEL)
    if not isinstance(covered, InnerList) or not isinstance(signature, Item):
        refuse("malformed_signature", "The signature is incomplete")
    signed = signature.value.value
    if not isinstance(signed, bytes) or len(signed) != 64 or signature.params:
        refuse("malformed_signature", "The signature is not one of Ed25519")

    expected = [name for name, _ in _expected_components(sent, answer)]
    if [_component_name(item) for item in covered.items] != expected:
        refuse("wrong_coverage", f"The signature must cover {' '.join(expected)}")
    parameters = _read_parameters(covered.params)
    if parameters is None:
        refuse("wrong_parameters", "The signature has other parameters")
    created, keyid = parameters
    verify = keys.get(keyid)
    if verify is None:
        refuse("unknown_key", f"Signed with the unknown key {keyid}")
    if not _digest_matches(answer):
        refuse("digest_mismatch", "The body does not match its Content-Digest")
    # Header values are Latin-1; a value that the server signed is ASCII.
    base = signature_base(sent, answer, created, keyid).encode("utf-8")
    if not verify(base, signed):
        refuse("bad_signature", "The signature is not of this answer to this request")
    return created


def _expected_components(sent: SentRequest, answer: ReceivedAnswer) -> List[Tuple[str, str]]:
    """The components that a response must cover, in the protocol's order, with the expected values."""
    components = [
        ('"@status"', str(answer.status)),
        ('"content-digest"', answer.header("content-digest")),
        ('"@method";req', sent.method),
        ('"@path";req', sent.path),
        ('"keyward-nonce";req', sent.nonce),
    ]
    if sent.authorization is not None:
        components.append(('"authorization";req', sent.authorization))
    if sent.content_digest is not None:
        components.append(('"content-digest";req', sent.content_digest))
    return components


def _to_stranger(answer: ReceivedAnswer) -> KeywardNetworkError:
    """
    Explains an unsigned response: a captive portal, another site, a missing app, or something on the way. Anyone on
    the network can send these, as they can drop the request, so they are never a verdict.
    """
    status = answer.status
    if _PAGE.match(answer.header("content-type")) or status == 511 or 300 <= status < 400:
        message = "A web page answered: a captive portal, or base_url is the address of another site"
        return KeywardNetworkError("captive_portal", message, status=status, outcome_unknown=True)
    if status in (404, 405):
        message = f"No Keyward server answers at base_url (status {status})"
        return KeywardNetworkError("wrong_address", message, status=status, outcome_unknown=False)
    if status == 403 and (parse_object(answer.body) or {}).get("code") == "appDisabled":
        message = "The server has no app with this app_id"
        return KeywardNetworkError("unknown_app", message, status=status, outcome_unknown=False)
    message = f"A firewall, a proxy or another server answered in place of the server (status {status})"
    return KeywardNetworkError("blocked", message, status=status, outcome_unknown=True)


def _component_name(item: Item) -> str:
    if item.value.type != "string":
        return ""
    suffix = "".join(
        f";{key}" if flag.type == "boolean" and flag.value is True else f";{key}=?"
        for key, flag in item.params.items()
    )
    return serialize_string(str(item.value.value)) + suffix


def _read_parameters(params: Parameters) -> Optional[Tuple[int, str]]:
    if list(params) != ["created", "keyid", "alg"]:
        return None
    created, keyid, alg = params.values()
    if created.type != "integer" or not isinstance(created.value, int) or created.value < 0:
        return None
    if keyid.type != "string" or alg.type != "string" or alg.value != "ed25519":
        return None
    return created.value, str(keyid.value)


def _digest_matches(answer: ReceivedAnswer) -> bool:
    try:
        digest = parse_dictionary(answer.header("content-digest")).get("sha-256")
    except StructuredFieldError:
        return False
    return isinstance(digest, Item) and digest.value.value == hashlib.sha256(answer.body).digest()
