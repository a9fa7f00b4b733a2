"""The client of a program for its Keyward server."""

from __future__ import annotations

import platform as this_platform
from typing import Callable, Dict, Optional, Tuple, TypeVar, Union

from .activation import LICENSE_KEY_MAX, encode_request
from .arguments import check_optional_text, check_text, to_path_segment
from .download import Download, Progress, to_artifact
from .errors import KeywardUsageError
from .exchange import Network
from .granted import to_list, to_object, to_user_data, unexpected
from .identity import Identity
from .kept import StorageFailure
from .log import LogEvent
from .offline import ActivationProblem, Offline, OfflineAnswer
from .options import DEFAULT, Hwid, PublicKeys, check_options
from .results import (
    DevicesData,
    Granted,
    InitData,
    Refused,
    Update,
    UpdateData,
    UserData,
    ValidateData,
    to_beyond,
    to_device,
    to_license,
    to_refused,
    to_update,
)
from .session import Session
from .text import trim
from .transport import Call, Transport
from .user_data import Storage

T = TypeVar("T")

_REJECTIONS: Dict[ActivationProblem, str] = {
    "not_for_this_machine": "The file is damaged, or made for another app or another machine",
    "other_request": "The file does not answer the last request of this machine",
    "lease_ended": "The file has ended",
    "clock_set_back": "The clock of this machine is behind: correct it and try again",
}


class Keyward:
    """
    A program's client for its Keyward server. Every call returns a result whose ``ok`` says whether the server grants
    it: a success with data, or a ``Refused`` with ``code`` and ``message``. Raises ``KeywardNetworkError`` without a
    usable response, ``KeywardSignatureError`` for a response that is not genuine, ``KeywardUsageError`` for an invalid
    call. One client may be used by several threads at the same time.
    """

    def __init__(
        self,
        *,
        base_url: str,
        app_id: str,
        secret: str,
        public_keys: PublicKeys,
        version: str,
        hash: Optional[str] = None,
        locale: Optional[str] = None,
        hwid: Hwid = DEFAULT,
        device: Optional[bool] = None,
        storage: Union[str, Storage, None] = None,
        timeout_ms: float = 15_000,
        proxy: Optional[str] = None,
        log: Optional[Callable[[LogEvent], object]] = None,
    ) -> None:
        """
        Raises ``KeywardUsageError`` (``invalid_options``) if an option is invalid. Sends nothing.

        :param base_url: The server's public address without ``/api``, for example ``https://licenses.example.com``.
        :param app_id: The app's 8-character identifier.
        :param secret: The app's 32-character secret.
        :param public_keys: The app's public keys: the ``keys`` array of ``GET /api/client/apps/{app_id}/keys``, the
            whole set, or one key. Embed them in the program: keys fetched at run time prove nothing.
        :param version: The program's version, compared with the app's version on the server; 1 to 32 characters.
        :param hash: The hash of the program's build, for apps that check it; up to 256 characters.
        :param locale: The language of ``message``, as a BCP 47 tag such as ``de-AT``; up to 35 characters.
        :param hwid: The hardware id, 1 to 256 characters, or a function that returns it. Default: a salted hash of the
            machine's own id. None sends none, and users with a hardware lock are refused.
        :param device: Whether to send the machine's name, its system and salted hashes of its parts with the hardware
            id, by which the server recognizes a machine that changed. True by default, but False with a ``hwid`` of
            your own: two of your ids on one machine would be taken for the same device.
        :param storage: Lets the program run without the server, and stay signed in: ``user-data`` is a file in the
            user's data folder; or an object with ``read`` and ``write``. Needs a hardware id.
        :param timeout_ms: Timeout of one call in milliseconds, including retries; 100 to 600000.
        :param proxy: An HTTP proxy, ``http://[user:password@]host:port``. Without it the settings of the environment
            or the operating system apply.
        :param log: Called with a ``LogEvent`` for every attempt of a call. What it raises is ignored.
        """
        self._options = check_options(
            base_url=base_url,
            app_id=app_id,
            secret=secret,
            public_keys=public_keys,
            version=version,
            hash=hash,
            locale=locale,
            hwid=hwid,
            device=device,
            storage=storage,
            timeout_ms=timeout_ms,
            proxy=proxy,
            log=log,
        )
        options = self._options
        self._identity = Identity(options)
        self._network = Network(options.proxy)
        self._transport = Transport(
            options.address, options.app_id, options.keys, self._network, options.log
        )
        self._session = Session(options, self._transport, self._identity)

    def init(self) -> Union[InitData, Refused]:
        """
        Opens a session and reports whether the app is enabled and has a newer version. Other calls do this when needed.
        Calling it again starts a new session, signed out.
        """
        return self._session.open()

    def register(
        self, username: str, password: str, license_key: str, email: Optional[str] = None
    ) -> Union[UserData, Refused]:
        """
        Creates an end user from an unused license key and signs in. Never retried automatically: after a
        ``KeywardNetworkError`` with ``outcome_unknown``, try ``login`` to find out whether it succeeded.
        """
        is_current = self._session.until_sign_out()
        body = {
            "username": check_text("username", username),
            "password": check_text("password", password),
            "licenseKey": trim(check_text("license_key", license_key)),
            "email": check_optional_text("email", email),
            **self._identity.sign_in_facts(),
        }
        return self._session.sign_in(Call("POST", "register", False, body), is_current)

    def login(self, username: str, password: str) -> Union[UserData, Refused]:
        """Signs an end user in; the first sign-in binds the user to this machine."""
        is_current = self._session.until_sign_out()
        body = {
            "username": check_text("username", username),
            "password": check_text("password", password),
            **self._identity.sign_in_facts(),
        }
        return self._session.sign_in(Call("POST", "login", True, body), is_current)

    def license(self, license_key: str) -> Union[UserData, Refused]:
        """Signs in by license key alone; the first use redeems the key and binds it to this machine."""
        is_current = self._session.until_sign_out()
        key = trim(check_text("license_key", license_key))
        call = Call("POST", "license", True, {"licenseKey": key, **self._identity.sign_in_facts()})

        def online(timeout_s: Optional[float]) -> Union[UserData, Refused]:
            return self._session.sign_in(call, is_current, key, timeout_s)

        return self._session.or_offline("license", online, is_current, key)

    def upgrade(self, username: str, license_key: str) -> Union[UserData, Refused]:
        """
        Redeems a key for an end user and adds the key's remaining time. Never retried automatically: after a
        ``KeywardNetworkError`` with ``outcome_unknown``, compare the user's ``expires_at``.
        """
        body = {
            "username": check_text("username", username),
            "licenseKey": trim(check_text("license_key", license_key)),
        }
        outcome = self._session.upgrade(Call("POST", "upgrade", False, body))
        return outcome if isinstance(outcome, Refused) else to_user_data(outcome)

    def session(self) -> Union[UserData, Refused]:
        """
        Returns the signed-in user and its expiry; call it before every unit of work. A ban, pause or expiry is reported
        from the next call on. ``sessionUnauthed`` means that no user is signed in. After ``license`` it signs in again by
        itself once the session has ended, and with the option ``storage`` also after a restart, if the vendor lets the
        app remember sign-ins.
        """
        is_current = self._session.until_sign_out()

        def online(timeout_s: Optional[float]) -> Union[UserData, Refused]:
            return self._session.check(is_current, timeout_s)

        return self._session.or_offline("session", online, is_current)

    def logout(self) -> Union[Granted, Refused]:
        """
        Ends the session. Always succeeds locally, even if the server is not reached or there is no session. A sign-in or
        ``session`` that is still under way ends with ``sessionUnauthed``, also if the server grants it.
        """
        session = self._session.sign_out()
        if session is None:
            return Granted(None, {})
        outcome = self._transport.send(Call("POST", "logout", True, session=session), self._session.deadline())
        if not isinstance(outcome, Refused):
            return Granted(outcome.message, {})
        # The session has already ended, which is what the caller wants.
        return Granted(None, {}) if outcome.code == "sessionUnauthed" else outcome

    def trial(self, type: Optional[str] = None, email: Optional[str] = None) -> Union[UserData, Refused]:
        """
        Starts the only trial of this machine, or signs in to it while it runs; then ``trialUsed``. ``type`` is a trial
        type of the app; by default its oldest. Without a hardware id the server refuses.
        """
        is_current = self._session.until_sign_out()
        body = {
            "type": check_optional_text("type", type),
            "email": check_optional_text("email", email),
            **self._identity.facts(),
        }
        return self._session.sign_in(Call("POST", "trial", True, body), is_current)

    def devices(self) -> Union[DevicesData, Refused]:
        """Lists the devices of the signed-in user, if the app lets users free devices."""
        outcome = self._session.signed_in(Call("GET", "devices", True))
        if isinstance(outcome, Refused):
            return outcome
        found = tuple(to_device(each) for each in to_list(outcome, "devices"))
        return DevicesData(outcome.message, outcome.data, found)

    def free_device(self, device_id: str) -> Union[Granted, Refused]:
        """
        Frees a device of the signed-in user, so that another one can take its place. ``device_cooldown`` says in
        ``details.until`` when the next may be freed. Never retried automatically.
        """
        name = f"devices/{to_path_segment('device_id', device_id)}"
        outcome = self._session.signed_in(Call("DELETE", name, False))
        return outcome if isinstance(outcome, Refused) else Granted(outcome.message, outcome.data)

    def validate(self, license_key: str, activate: bool = False) -> Union[ValidateData, Refused]:
        """
        Checks a license in one call, without signing in. Granted only if it can be used now on this machine. Without
        ``activate`` it binds nothing, so an unused key is valid on any number of machines: prefer ``license``, or pass
        ``activate=True``, which redeems an unused key and binds this machine.
        """
        body = {
            "appId": self._options.app_id,
            "licenseKey": trim(check_text("license_key", license_key)),
            **self._identity.facts(),
            "activate": True if activate else None,
            "locale": self._options.locale,
        }
        outcome = self._transport.send(Call("POST", "validate", True, body), self._session.deadline())
        if isinstance(outcome, Refused):
            return outcome
        data, code = outcome.data, outcome.data.get("code")
        if data.get("valid") is True:
            found = to_license(to_object(outcome, "license"))
            return ValidateData(outcome.message, data, found, data.get("activated") is True)
        if data.get("valid") is not False or not isinstance(code, str):
            raise unexpected("validate")
        return to_refused(code, code if outcome.message is None else outcome.message, data)

    def check_for_update(
        self,
        *,
        channel: Optional[str] = None,
        platform: Optional[str] = None,
        architecture: Optional[str] = None,
        license_key: Optional[str] = None,
    ) -> Union[UpdateData, Refused]:
        """
        Finds the newest version that the license covers and that this one may update to, on the channel ``stable`` and for
        this machine by default. A program that nobody is signed in to passes ``license_key``; that also finds it after
        ``noActiveSubs``, ``updatesEnded``, ``versionTooOld`` and ``noSeats``.
        """
        key = check_optional_text("license_key", license_key)
        body = {
            "platform": check_optional_text("platform", platform) or this_platform.system().lower(),
            "architecture": check_optional_text("architecture", architecture) or this_platform.machine().lower(),
            "channel": check_optional_text("channel", channel),
            "licenseKey": None if key is None else trim(key),
        }
        outcome = self._session.signed_in(Call("POST", "updates", True, body))
        if isinstance(outcome, Refused):
            return outcome
        data = outcome.data
        if not all(name in data and isinstance(data[name], (dict, type(None))) for name in ("update", "beyond")):
            raise unexpected("updates")
        return UpdateData(outcome.message, data, to_update(data["update"]), to_beyond(data["beyond"]))

    def download_update(self, update: Update, folder: str, on_progress: Optional[Progress] = None) -> str:
        """
        Downloads the file of an update into a folder and returns its path. The file appears there only if its size and
        SHA-512 are those that the server has signed, else ``KeywardSignatureError`` (``digest_mismatch``). After a
        ``KeywardNetworkError`` the next call goes on where this one stopped. ``on_progress`` is called with the bytes
        received and the size. Follows redirects, over ``https`` alone.
        """
        artifact = to_artifact(update)
        if check_text("folder", folder) == "":
            raise KeywardUsageError("invalid_argument", "folder must be a text")
        return Download(artifact, folder, self._network, self._options.timeout_s, on_progress).run()

    def has(self, feature: str) -> bool:
        """
        Whether the license of the signed-in user includes a feature, by the last answer to a sign-in or ``session``.
        False before, and after a refusal or ``logout``.
        """
        user = self._session.user
        return user is not None and feature in user.features

    def variable(self, name: str) -> Optional[str]:
        """
        A variable of the signed-in user or the app, by the last answers; before the sign-in a public one. None if there
        is none of that name.
        """
        if not isinstance(name, str):
            return None
        user = self._session.user
        if user is not None and name in user.variables:
            return user.variables[name]
        return self._session.public_variables.get(name)

    def offline_request(self, license_key: str) -> str:
        """
        The request of a machine that is never online, a text of about 150 characters for the vendor. Calling it again
        with the same key returns the same request until a file has answered it. Sends nothing; needs the option
        ``storage``.
        """
        key = trim(check_text("license_key", license_key))
        if not 1 <= len(key) <= LICENSE_KEY_MAX:
            message = f"license_key must have 1 to {LICENSE_KEY_MAX} characters"
            raise KeywardUsageError("invalid_argument", message)
        offline, hwid = self._offline_machine("offline_request")
        nonce = bytes.fromhex(_stored(lambda: offline.request_nonce(key)))
        return encode_request(self._options.app_id, hwid, key, nonce)

    def activate_offline(self, file: str) -> UserData:
        """
        Accepts the vendor's file for the last ``offline_request``. From then on ``session`` and ``license`` answer from
        it while the server is not reached. Raises ``KeywardUsageError`` (``activation_rejected``) for any other file.
        Sends nothing.
        """
        is_current = self._session.until_sign_out()
        check_text("file", file)
        offline, hwid = self._offline_machine("activate_offline")
        answer = _stored(lambda: offline.activate(file, hwid))
        if not isinstance(answer, OfflineAnswer):
            raise KeywardUsageError("activation_rejected", _REJECTIONS[answer])
        return self._session.answered(answer, is_current)

    def deactivate_offline(self) -> str:
        """
        Forgets the activation of this machine and returns the code with which the vendor frees the device. Raises
        ``KeywardUsageError`` (``no_activation``) without one. Sends nothing.
        """
        offline, hwid = self._offline_machine("deactivate_offline")
        code = _stored(lambda: offline.deactivate(hwid))
        if code is None:
            raise KeywardUsageError("no_activation", "This machine has no activation")
        self._session.forget_user()
        return code

    def _offline_machine(self, call: str) -> Tuple[Offline, str]:
        offline = self._options.offline
        if offline is None:
            raise KeywardUsageError("invalid_options", f"{call} needs the option storage")
        hwid = self._identity.hwid()
        if hwid is None:
            raise KeywardUsageError("hwid_unavailable", f"{call} needs a hardware id")
        return offline, hwid


def _stored(change: Callable[[], T]) -> T:
    """What must be stored reports it if it cannot be."""
    try:
        return change()
    except StorageFailure as error:
        raise KeywardUsageError("storage_failed", f"{error}. Nothing was changed.") from error
