// Keyward for .NET: puts a program behind a Keyward license. Version 1.4.0, Apache License 2.0.
//
// One file for .NET Standard 2.0 and C# 7.0 and later, without packages: add it to your project. With Mono:
// mcs -r:System.Net.Http -r:System.Numerics Program.cs Keyward.cs
// Your server explains the protocol at /docs/client-protocol and lists all versions at /sdk/.
#define TRACE

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.NetworkInformation;
using System.Net.Security;
using System.Net.Sockets;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    // DevicesResult.cs

    /// <summary>The result of <see cref="KeywardClient.DevicesAsync"/>.</summary>
    public sealed class DevicesResult : KeywardResult
    {
        /// <summary>The device seen last comes first; at most 200. Empty after a refusal.</summary>
        public IReadOnlyList<Device> Devices { get; }

        internal DevicesResult(Dictionary<string, object> json) : base(json)
        {
            Devices = json.TryGetValue("devices", out object list) && list is List<object> devices
                ? devices.OfType<Dictionary<string, object>>().Select(each => new Device(each)).ToList()
                : new List<Device>();
        }
    }

    /// <summary>A machine on which the user has signed in.</summary>
    public sealed class Device
    {
        public string Id { get; }
        public string Name { get; }
        public string System { get; }
        public DateTimeOffset? FirstSeenAt { get; }
        public DateTimeOffset? LastSeenAt { get; }

        internal Device(Dictionary<string, object> json)
        {
            Id = JsonText.Text(json, "_id");
            Name = JsonText.Text(json, "name");
            System = JsonText.Text(json, "system");
            FirstSeenAt = JsonText.Time(json, "firstSeenAt");
            LastSeenAt = JsonText.Time(json, "lastSeenAt");
        }
    }

    // Exceptions.cs

    /// <summary>Base class of the exceptions of this SDK. A refused license is a result, not an exception.</summary>
    public abstract class KeywardException : Exception
    {
        public string Code { get; }

        internal KeywardException(string code, string message, Exception cause) : base(message, cause) { Code = code; }
    }

    /// <summary>
    /// No verdict, because there is no usable answer: <c>unreachable</c>, <c>connection_lost</c>, <c>timed_out</c>,
    /// <c>rate_limited</c>, <c>server_error</c>, <c>captive_portal</c>, <c>wrong_address</c>, <c>unknown_app</c>, <c>blocked</c> or
    /// <c>unexpected_answer</c>. Retry later; do not treat it as a refusal.
    /// </summary>
    public sealed class KeywardNetworkException : KeywardException
    {
        /// <summary>The HTTP status, if there was an answer.</summary>
        public int? Status { get; }
        /// <summary>How long the server asks to wait, in milliseconds, if it sent Retry-After.</summary>
        public long? RetryAfterMs { get; }
        /// <summary>
        /// True if the server may have executed the call although no answer arrived. After <c>RegisterAsync</c>, try
        /// <c>LoginAsync</c>; after <c>UpgradeAsync</c>, compare the user's <c>ExpiresAt</c>.
        /// </summary>
        public bool OutcomeUnknown { get; }
        /// <summary>Why neither lease nor activation could stand in for the server: <c>no_lease</c>, <c>lease_ended</c> or <c>clock_set_back</c>.</summary>
        public string Offline { get; }

        internal KeywardNetworkException(string code, string message, bool outcomeUnknown, int? status = null,
            long? retryAfterMs = null, Exception cause = null, string offline = null) : base(code, message, cause)
        {
            Status = status;
            RetryAfterMs = retryAfterMs;
            OutcomeUnknown = outcomeUnknown;
            Offline = offline;
        }

        internal KeywardNetworkException With(string offline) =>
            new KeywardNetworkException(Code, Message, OutcomeUnknown, Status, RetryAfterMs, InnerException, offline);
    }

    /// <summary>
    /// An answer with a signature that does not prove it to be the server's answer to this request: <c>malformed_signature</c>,
    /// <c>wrong_coverage</c>, <c>wrong_parameters</c>, <c>unknown_key</c>, <c>digest_mismatch</c>, <c>bad_signature</c> or
    /// <c>body_too_large</c>. Do not continue.
    /// </summary>
    public sealed class KeywardSignatureException : KeywardException
    {
        /// <summary>The HTTP status of the rejected answer.</summary>
        public int Status { get; }

        internal KeywardSignatureException(string code, string message, int status) : base(code, message, null) { Status = status; }
    }

    /// <summary>
    /// A mistake of the calling program, or what this machine does not offer: <c>invalid_options</c>, <c>invalid_argument</c>,
    /// <c>hwid_unavailable</c>, <c>hwid_unreadable</c>, <c>activation_rejected</c>, <c>no_activation</c> or <c>storage_failed</c>.
    /// </summary>
    public sealed class KeywardUsageException : KeywardException
    {
        internal KeywardUsageException(string code, string message, Exception cause = null) : base(code, message, cause) { }
    }

    // KeywardClient.Machine.cs

    public sealed partial class KeywardClient
    {
        private async Task<Call> ToValidationAsync(string licenseKey, bool activate)
        {
            Dictionary<string, object> body = JsonText.Object("appId", _options.AppId, "licenseKey", licenseKey);
            await AddMachineAsync(body).ConfigureAwait(false);
            if (activate) body["activate"] = true;
            if (_options.Locale != null) body["locale"] = _options.Locale;
            return new Call("POST", "validate", body, repeatable: true);
        }

        private async Task AddSignInFactsAsync(Dictionary<string, object> body)
        {
            await AddMachineAsync(body).ConfigureAwait(false);
            if (_options.Offline != null && body.ContainsKey("hwid")) body["remember"] = true;
        }

        /// <summary>The hardware id, and the description of the machine beside it.</summary>
        private async Task AddMachineAsync(Dictionary<string, object> body)
        {
            string hwid = await FindHwidAsync().ConfigureAwait(false);
            if (hwid == null) return;
            body["hwid"] = hwid;
            if (!_options.Device) return;
            Task<Dictionary<string, object>> finding;
            lock (_gate) finding = _device ?? (_device = Task.Run(() => DeviceParts.DescribeOrNothing(_options.AppId)));
            Dictionary<string, object> device = await finding.ConfigureAwait(false);
            if (device != null) body["device"] = device;
        }

        private Task<string> FindHwidAsync()
        {
            lock (_gate)
            {
                if (_hwid == null || _hwid.IsFaulted || _hwid.IsCanceled) _hwid = Task.Run(() => AskForHwidAsync());
                return _hwid;
            }
        }

        private async Task<string> AskForHwidAsync()
        {
            HardwareId hwid = _options.Hwid;
            if (ReferenceEquals(hwid, HardwareId.None)) return null;
            if (ReferenceEquals(hwid, HardwareId.Default)) return await DefaultHwid.FindAsync(_options.AppId, Machine.This()).ConfigureAwait(false);
            string found = hwid.Text;
            if (hwid.Find != null)
            {
                try
                {
                    found = await hwid.Find().ConfigureAwait(false);
                }
                catch (Exception cause)
                {
                    throw new KeywardUsageException("hwid_unavailable", "The function Hwid failed", cause);
                }
            }
            if (found != null && found.Length >= 1 && found.Length <= 256) return found;
            throw new KeywardUsageException("invalid_options", "Hwid must give a text of 1 to 256 characters");
        }

        private static string Require(string text, string name) =>
            text ?? throw new KeywardUsageException("invalid_argument", name + " must be a text");
    }

    // KeywardClient.Offline.cs

    public sealed partial class KeywardClient
    {
        /// <summary>
        /// The request of a machine that is never online, a text of about 150 characters for the vendor. Calling it again with the same
        /// key returns the same request until a file has answered it. Sends nothing; needs the option <c>Storage</c>.
        /// </summary>
        public Task<string> OfflineRequestAsync(string licenseKey,
            CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
        {
            string key = ToKey(licenseKey);
            int length = key.Length - key.Where((each, at) => at > 0 && char.IsLowSurrogate(each) && char.IsHighSurrogate(key[at - 1])).Count();
            if (length < 1 || length > Activation.LicenseKeyMax)
                throw new KeywardUsageException("invalid_argument", "licenseKey must have 1 to " + Activation.LicenseKeyMax + " characters");
            string hwid = await OfflineMachineAsync("OfflineRequestAsync").ConfigureAwait(false);
            byte[] nonce = Bytes.FromHex(await _options.Offline.RequestNonceAsync(key).ConfigureAwait(false));
            return Activation.EncodeRequest(_options.AppId, hwid, key, nonce);
        }, cancellationToken);

        /// <summary>
        /// Accepts the vendor's file for the last <see cref="OfflineRequestAsync"/>. From then on <c>SessionAsync</c> and
        /// <c>LicenseAsync</c> answer from it while the server is not reached. Throws <see cref="KeywardUsageException"/>
        /// (<c>activation_rejected</c>) for any other file. Sends nothing.
        /// </summary>
        public Task<UserResult> ActivateOfflineAsync(string file,
            CancellationToken cancellationToken = default(CancellationToken)) => RunCurrent(async limits =>
        {
            Require(file, "file");
            string hwid = await OfflineMachineAsync("ActivateOfflineAsync").ConfigureAwait(false);
            return Shown(await _options.Offline.ActivateAsync(file, hwid).ConfigureAwait(false), limits.IsCurrent);
        }, cancellationToken);

        /// <summary>
        /// Forgets the activation of this machine and returns the code with which the vendor frees the device. Throws
        /// <see cref="KeywardUsageException"/> (<c>no_activation</c>) without one. Sends nothing.
        /// </summary>
        public Task<string> DeactivateOfflineAsync(CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
        {
            string hwid = await OfflineMachineAsync("DeactivateOfflineAsync").ConfigureAwait(false);
            string code = await _options.Offline.DeactivateAsync(hwid).ConfigureAwait(false);
            if (code == null) throw new KeywardUsageException("no_activation", "This machine has no activation");
            ForgetUser();
            return code;
        }, cancellationToken);

        /// <summary>Renews the lease after a success, and forgets it after a refusal that would hold offline, too.</summary>
        private async Task<UserResult> KeptAsync(Func<Task<Answered>> online, string licenseKey, Limits limits)
        {
            Answered answered = await online().ConfigureAwait(false);
            _away.End();
            UserResult result = answered.Result;
            if (!limits.IsCurrent()) return result.Ok ? Overtaken() : result;
            bool hasEnded = !result.Ok && LeaseEndings.Codes.Contains(result.Code ?? "");
            if (hasEnded) TrySignIn(null, limits.IsCurrent, true);
            Offline offline = _options.Offline;
            if (offline == null) return result;
            string hwid = await FindHwidAsync().ConfigureAwait(false);
            long serverTime = _transport.ServerTime;
            if (serverTime >= 0) await offline.CorrectTimeAsync(serverTime, hwid).ConfigureAwait(false);
            if (hwid == null) return result;
            if (!result.Ok)
            {
                if (hasEnded) await offline.ForgetLeaseAsync(limits.IsCurrent).ConfigureAwait(false);
                return result;
            }
            UserResult shown = await KeepTokenAsync(result, limits.IsCurrent).ConfigureAwait(false);
            await RenewLeaseAsync(hwid, shown, licenseKey, answered.Session, limits).ConfigureAwait(false);
            return limits.IsCurrent() ? shown : Overtaken();
        }

        /// <summary>Never fails the call that was granted.</summary>
        private async Task RenewLeaseAsync(string hwid, UserResult result, string licenseKey, string session, Limits limits)
        {
            Offline offline = _options.Offline;
            string userId = result.User.Id;
            if (!limits.IsCurrent() || (licenseKey == null && !await IsRenewalDueAsync(hwid, userId).ConfigureAwait(false))) return;
            PauseRenewal(userId, Clock.NowMs + RenewalPauseMs);
            var call = new Call("POST", "lease", JsonText.Object("hwid", hwid), repeatable: true) { Session = session };
            try
            {
                long deadline = Math.Min(limits.Deadline, Clock.NowMs + LongestRenewalMs);
                Outcome outcome = await _transport.SendAsync(call, deadline, limits.Cancellation).ConfigureAwait(false);
                string lease = outcome.Ok ? JsonText.Text(outcome.Data, "lease") : null;
                if (lease == null) return;
                PauseRenewal(null, 0);
                await offline.KeepAsync(lease, hwid, JsonText.Child(result.Json, "user"), licenseKey, limits.IsCurrent).ConfigureAwait(false);
            }
            catch (Exception error) when (error is KeywardException || error is OperationCanceledException)
            {
                // The program may run; a later call tries again.
            }
        }

        /// <summary>Not soon after a failure, which would delay every call.</summary>
        private async Task<bool> IsRenewalDueAsync(string hwid, string userId)
        {
            lock (_gate)
            {
                if (_failedRenewalUser != null && _failedRenewalUser == userId && Clock.NowMs < _renewalPausedUntil) return false;
            }
            return await _options.Offline.IsDueAsync(hwid, userId).ConfigureAwait(false);
        }

        private void PauseRenewal(string userId, long until)
        {
            lock (_gate)
            {
                _failedRenewalUser = userId;
                _renewalPausedUntil = until;
            }
        }

        private async Task<UserResult> FromActivationAsync(Func<bool> isCurrent)
        {
            string hwid = _options.Offline == null ? null : await FindHwidAsync().ConfigureAwait(false);
            if (hwid == null) return null;
            OfflineAnswer answer = await _options.Offline.AnswerFromActivationAsync(hwid).ConfigureAwait(false);
            if (answer.Problem != null) return null;
            _options.Log(new LogEvent { Event = "offline", Call = "session", Code = LicenseState.SessionUnauthed });
            return IfCurrent(answer, isCurrent);
        }

        private UserResult Shown(OfflineAnswer answer, Func<bool> isCurrent)
        {
            var variables = new Dictionary<string, object>(JsonText.Child(answer.User, "variables"), StringComparer.Ordinal);
            lock (_gate)
            {
                // What the server said about the same user in this run; only the lease's own variables outlive it.
                if (_known != null && _known.Id == JsonText.Text(answer.User, "_id"))
                    foreach (KeyValuePair<string, string> each in _known.Variables) variables[each.Key] = each.Value;
            }
            answer.User["variables"] = variables;
            var result = new UserResult(JsonText.Object("user", answer.User, "offline", answer.State, "ok", true));
            TrySignIn(result.User, isCurrent);
            return result;
        }

        private UserResult IfCurrent(OfflineAnswer answer, Func<bool> isCurrent)
        {
            UserResult result = Shown(answer, isCurrent);
            return isCurrent() ? result : Overtaken();
        }

        private async Task<string> OfflineMachineAsync(string call)
        {
            if (_options.Offline == null) throw new KeywardUsageException("invalid_options", call + " needs the option Storage");
            string hwid = await FindHwidAsync().ConfigureAwait(false);
            if (hwid == null) throw new KeywardUsageException("hwid_unavailable", call + " needs a hardware id");
            return hwid;
        }

        /// <summary>
        /// Answers from the lease or the activation if the server is not reached. If they could answer, the server gets a few seconds,
        /// and after a network error it is asked in the background for a while.
        /// </summary>
        private async Task<UserResult> OrOfflineAsync(string call, Func<Limits, Task<UserResult>> online, string licenseKey, Limits limits)
        {
            Offline offline = _options.Offline;
            string hwid = offline == null ? null : await FindHwidAsync().ConfigureAwait(false);
            if (hwid == null) return await online(limits).ConfigureAwait(false);
            Action probe = () =>
            {
                if (limits.IsCurrent()) _away.Probe(() => online(new Limits { Deadline = Clock.NowMs + _options.TimeoutMs, IsCurrent = limits.IsCurrent }));
            };
            bool canAnswer = await offline.WouldAnswerAsync(hwid, licenseKey).ConfigureAwait(false);
            string code = _away.Code;
            if (canAnswer && code != null)
            {
                OfflineAnswer stored = await offline.AnswerAsync(hwid, licenseKey).ConfigureAwait(false);
                probe();
                if (stored.Problem == null) return Stored(stored, call, code, licenseKey, limits);
            }
            KeywardNetworkException error;
            try
            {
                long deadline = canAnswer ? Math.Min(limits.Deadline, Clock.NowMs + PatienceMs) : limits.Deadline;
                return await online(limits.Until(deadline)).ConfigureAwait(false);
            }
            catch (KeywardNetworkException caught) when (caught.Code != "unexpected_answer")
            {
                error = caught;
            }
            OfflineAnswer answer = await offline.AnswerAsync(hwid, licenseKey).ConfigureAwait(false);
            if (answer.Problem != null) throw error.With(answer.Problem);
            if (limits.IsCurrent()) _away.Note(error);
            // The network may only be slow.
            if (error.Code == "timed_out") probe();
            return Stored(answer, call, error.Code, licenseKey, limits);
        }

        private UserResult Stored(OfflineAnswer answer, string call, string code, string licenseKey, Limits limits)
        {
            _options.Log(new LogEvent { Event = "offline", Call = call, Code = code });
            if (licenseKey != null) RememberKey(licenseKey, limits.IsCurrent);
            return IfCurrent(answer, limits.IsCurrent);
        }
    }

    // KeywardClient.Session.cs

    public sealed partial class KeywardClient
    {
        private string Session
        {
            get { lock (_gate) return _session; }
        }

        /// <summary>Whether a call has signed in, in a session that no answer has ended.</summary>
        private bool HasUser
        {
            get { lock (_gate) return _session != null && _user != null; }
        }

        /// <summary>
        /// Runs on the pool: nothing computes or waits on the caller's thread, and nothing returns to it, so that a program that blocks
        /// its UI thread on the result does not hang.
        /// </summary>
        private Task<T> Run<T>(Func<long, Task<T>> call, CancellationToken cancellationToken) =>
            Task.Run(() => call(Clock.NowMs + _options.TimeoutMs), cancellationToken);

        private async Task<Opened> OpenAsync(long deadline, CancellationToken cancellationToken)
        {
            string hwid = await FindHwidAsync().ConfigureAwait(false);
            Dictionary<string, object> body = JsonText.Object("appId", _options.AppId, "secret", _options.Secret, "version", _options.Version,
                "hash", _options.Hash, "hwid", hwid, "locale", _options.Locale, "sdk", SdkVersion.Sdk);
            Outcome outcome = await _transport.SendAsync(new Call("POST", "init", body, repeatable: true), deadline, cancellationToken).ConfigureAwait(false);
            if (!outcome.Ok)
            {
                ForgetUser();
                return new Opened { Result = new InitResult(outcome.Refusal()) };
            }
            string session = JsonText.Text(outcome.Data, "session");
            if (session == null || session.Length < 1 || session.Length > 1024 || session.Any(each => each < '!' || each > '~')) throw Unexpected("init");
            outcome.Data.Remove("session");
            var opened = new InitResult(Granted(outcome, "app"));
            lock (_gate)
            {
                _session = session;
                _user = null;
                _public = opened.Variables;
            }
            return new Opened { Result = opened, Session = session };
        }

        /// <summary>
        /// The session that a call uses to its end, even if it is ended meanwhile. Concurrent calls share one <c>init</c>, which none
        /// of them can cancel for the others.
        /// </summary>
        private Task<Opened> OpenOnceAsync(long deadline, CancellationToken cancellationToken)
        {
            lock (_gate)
            {
                if (_session != null) return Task.FromResult(new Opened { Session = _session });
                if (_opening == null)
                {
                    _opening = Task.Run(async () =>
                    {
                        try
                        {
                            return await OpenAsync(deadline, CancellationToken.None).ConfigureAwait(false);
                        }
                        finally
                        {
                            lock (_gate) _opening = null;
                        }
                    });
                }
                return Waiting.ForAsync(_opening, deadline, cancellationToken);
            }
        }

        /// <summary>A call that signs in or needs a session; opens a new one and repeats the call if it has ended.</summary>
        private async Task<Answered> CallAsync(Call call, bool reopen, Limits limits)
        {
            for (;;)
            {
                if (!limits.IsCurrent()) return new Answered { Result = Overtaken() };
                Opened opened = await OpenOnceAsync(limits.Deadline, limits.Cancellation).ConfigureAwait(false);
                string session = opened.Session;
                if (session == null) return new Answered { Result = new UserResult(opened.Result.Json) };
                // Sent now, it would sign in the user who has signed out meanwhile.
                if (!limits.IsCurrent()) return new Answered { Result = Overtaken() };
                call.Session = session;
                Outcome outcome = await _transport.SendAsync(call, limits.Deadline, limits.Cancellation).ConfigureAwait(false);
                if (outcome.Ok)
                {
                    var result = new UserResult(Granted(outcome, "user"));
                    // An upgrade may concern another user than the signed-in one.
                    if (call.Name == "upgrade" || TrySignIn(result.User, limits.IsCurrent, true)) return new Answered { Result = result, Session = session };
                    EndSession(session);
                    return new Answered { Result = Overtaken() };
                }
                bool signedOut = outcome.Code == LicenseState.SessionUnauthed;
                // A refusal ends what the license included, until the next success.
                if (call.Name == "session") TrySignIn(null, limits.IsCurrent);
                if (signedOut) EndSession(session);
                if (!signedOut || !reopen || !limits.IsCurrent()) return new Answered { Result = new UserResult(outcome.Refusal()), Session = session };
                reopen = false;
            }
        }

        private static async Task<UserResult> ResultOfAsync(Task<Answered> answered) => (await answered.ConfigureAwait(false)).Result;

        /// <summary>The result of a sign-in or session call that was granted only after the user had signed out.</summary>
        private static UserResult Overtaken() => new UserResult(JsonText.Object(
            "ok", false, "code", LicenseState.SessionUnauthed, "message", "The user signed out before this call was finished"));

        /// <summary>Signs the user of an answer in, unless a sign-out has overtaken the answer.</summary>
        private bool TrySignIn(SessionUser user, Func<bool> isCurrent, bool isKnown = false)
        {
            lock (_gate)
            {
                if (!isCurrent()) return false;
                _user = user;
                if (isKnown) _known = user;
                return true;
            }
        }

        private void EndSession(string session)
        {
            lock (_gate)
            {
                if (_session == session) _session = null;
            }
        }

        /// <summary>A call of the signed-in user; without one it is <c>sessionUnauthed</c>.</summary>
        private async Task<Dictionary<string, object>> SignedInAsync(Call call, string required, long deadline, CancellationToken cancellationToken)
        {
            Opened opened = await OpenOnceAsync(deadline, cancellationToken).ConfigureAwait(false);
            if (opened.Session == null) return opened.Result.Json;
            call.Session = opened.Session;
            Outcome outcome = await _transport.SendAsync(call, deadline, cancellationToken).ConfigureAwait(false);
            return outcome.Ok ? Granted(outcome, required) : outcome.Refusal();
        }

        private void ForgetUser()
        {
            lock (_gate) _user = null;
        }

        /// <summary>Whether no sign-out has begun since now: ask for it before anything else of a call.</summary>
        private Func<bool> UntilSignOut()
        {
            int signOuts = Volatile.Read(ref _signOuts);
            return () => signOuts == Volatile.Read(ref _signOuts);
        }

        private Task<T> RunCurrent<T>(Func<Limits, Task<T>> call, CancellationToken cancellationToken)
        {
            Func<bool> isCurrent = UntilSignOut();
            return Run(deadline => call(new Limits { Deadline = deadline, IsCurrent = isCurrent, Cancellation = cancellationToken }), cancellationToken);
        }

        private static Dictionary<string, object> Granted(Outcome outcome, string required)
        {
            if (required != null && !(outcome.Data.TryGetValue(required, out object value) &&
                (value is Dictionary<string, object> || (value is List<object> && required == "devices")))) throw Unexpected(required);
            var granted = new Dictionary<string, object>(outcome.Data, StringComparer.Ordinal);
            if (outcome.Message != null) granted["message"] = outcome.Message;
            // Last: no field of an answer may override the verdict.
            granted["ok"] = true;
            return granted;
        }

        private static KeywardNetworkException Unexpected(string what) =>
            new KeywardNetworkException("unexpected_answer", "The answer to " + what + " is incomplete", true);
    }

    // KeywardClient.SignIn.cs

    public sealed partial class KeywardClient
    {
        /// <summary>Whether the user may go on; signs in again with a remembered sign-in or the key that signed in.</summary>
        private async Task<UserResult> CheckAsync(Limits limits)
        {
            UserResult result = await KeptAsync(() => SessionOnlineAsync(limits), null, limits).ConfigureAwait(false);
            if (!IsSignedOut(result) || !limits.IsCurrent()) return result;
            return await SignInByKeyAsync(limits).ConfigureAwait(false) ?? await FromActivationAsync(limits.IsCurrent).ConfigureAwait(false) ?? result;
        }

        private static bool IsSignedOut(UserResult result) => !result.Ok && result.Code == LicenseState.SessionUnauthed;

        private async Task<Answered> SessionOnlineAsync(Limits limits)
        {
            for (;;)
            {
                Answered resumed = Session == null ? await ResumeOnceAsync(limits).ConfigureAwait(false) : null;
                if (resumed != null) return resumed;
                Answered answered = await CallAsync(new Call("GET", "session", null, repeatable: true), false, limits).ConfigureAwait(false);
                if (!IsSignedOut(answered.Result)) return answered;
                resumed = Session == null ? await ResumeOnceAsync(limits).ConfigureAwait(false) : null;
                if (resumed != null) return resumed;
                // Another call may have opened a session meanwhile, which may have a user.
                if (Session == null || !limits.IsCurrent()) return answered;
            }
        }

        /// <summary>Signs in with the key of the last sign-in; null if that was none by key. Concurrent calls share it.</summary>
        private Task<UserResult> SignInByKeyAsync(Limits limits)
        {
            lock (_gate)
            {
                string key = _key;
                if (key == null) return Task.FromResult<UserResult>(null);
                if (_signingIn == null)
                {
                    _signingIn = Task.Run(async () =>
                    {
                        try
                        {
                            return await SignInByAsync(key, limits.ForOthers()).ConfigureAwait(false);
                        }
                        finally
                        {
                            lock (_gate) _signingIn = null;
                        }
                    });
                }
                return Waiting.ForAsync(_signingIn, limits.Deadline, limits.Cancellation);
            }
        }

        /// <summary>Null if the key must not be used again.</summary>
        private async Task<UserResult> SignInByAsync(string key, Limits limits)
        {
            // Another call has signed in since this one was refused.
            if (HasUser)
            {
                UserResult checkedAgain = await KeptAsync(() => CallAsync(new Call("GET", "session", null, repeatable: true), false, limits), null, limits).ConfigureAwait(false);
                if (!IsSignedOut(checkedAgain)) return checkedAgain;
            }
            // A vendor who deleted the user has freed the key for somebody else.
            bool isFreed = await IsUnusedAsync(key, limits).ConfigureAwait(false);
            if (isFreed) ForgetKey(key);
            if (isFreed || !limits.IsCurrent()) return null;
            Dictionary<string, object> body = JsonText.Object("licenseKey", key);
            await AddSignInFactsAsync(body).ConfigureAwait(false);
            UserResult result = await SignInAsync(new Call("POST", "license", body, repeatable: true), key, limits).ConfigureAwait(false);
            if (!result.Ok && result.Code == LicenseState.KeyNotFound) ForgetKey(key);
            return result;
        }

        private async Task<bool> IsUnusedAsync(string key, Limits limits)
        {
            Call call = await ToValidationAsync(key, false).ConfigureAwait(false);
            Outcome outcome = await _transport.SendAsync(call, limits.Deadline, limits.Cancellation).ConfigureAwait(false);
            if (!outcome.Ok || !outcome.Data.TryGetValue("valid", out object valid) || !true.Equals(valid)) return false;
            return !JsonText.Flag(JsonText.Child(Granted(outcome, "license"), "license"), "used");
        }

        private void ForgetKey(string key)
        {
            lock (_gate)
            {
                if (_key == key) _key = null;
            }
        }

        private async Task<UserResult> SignInAsync(Call call, string licenseKey, Limits limits)
        {
            UserResult result = await KeptAsync(() => CallAsync(call, true, limits), licenseKey, limits).ConfigureAwait(false);
            if (result.Ok) RememberKey(licenseKey, limits.IsCurrent);
            return result;
        }

        private void RememberKey(string licenseKey, Func<bool> isCurrent)
        {
            lock (_gate)
            {
                if (isCurrent()) _key = licenseKey;
            }
        }

        /// <summary>Stores the token of a remembered sign-in, which programs never see, unless the user has signed out meanwhile.</summary>
        private async Task<UserResult> KeepTokenAsync(UserResult result, Func<bool> isCurrent)
        {
            if (!result.Json.TryGetValue("deviceToken", out object value)) return result;
            if (value is string token) await _options.Offline.KeepDeviceTokenAsync(token, isCurrent).ConfigureAwait(false);
            var shown = new Dictionary<string, object>(result.Json, StringComparer.Ordinal);
            shown.Remove("deviceToken");
            return new UserResult(shown);
        }

        /// <summary>Concurrent calls share one sign-in, because each replaces the token. Null if there is none to repeat.</summary>
        private Task<Answered> ResumeOnceAsync(Limits limits)
        {
            lock (_gate)
            {
                if (_resuming == null)
                {
                    _resuming = Task.Run(async () =>
                    {
                        try
                        {
                            return await ResumeAsync(limits).ConfigureAwait(false);
                        }
                        finally
                        {
                            lock (_gate) _resuming = null;
                        }
                    });
                }
                return Waiting.ForAsync(_resuming, limits.Deadline, limits.Cancellation);
            }
        }

        /// <summary>Signs in with the remembered sign-in; null without one, or if the server has ended it.</summary>
        private async Task<Answered> ResumeAsync(Limits limits)
        {
            Offline offline = _options.Offline;
            string deviceToken = offline == null ? null : await offline.DeviceTokenAsync().ConfigureAwait(false);
            if (deviceToken == null) return null;
            Dictionary<string, object> body = JsonText.Object("deviceToken", deviceToken);
            await AddMachineAsync(body).ConfigureAwait(false);
            if (!body.ContainsKey("hwid")) return null;
            // The server accepts the same token again if its answer was lost.
            Answered resumed = await CallAsync(new Call("POST", "resume", body, repeatable: true), false, limits.ForOthers()).ConfigureAwait(false);
            UserResult result = resumed.Result;
            if (result.Ok) return new Answered { Result = await KeepTokenAsync(result, limits.IsCurrent).ConfigureAwait(false), Session = resumed.Session };
            if (!IsSignedOut(result)) return resumed;
            await offline.DropDeviceTokenAsync(deviceToken).ConfigureAwait(false);
            return null;
        }
    }

    // KeywardClient.cs

    /// <summary>
    /// A program's client for its Keyward server; one instance serves all threads. Every call returns a result: <c>Ok</c> with data,
    /// or not, with <c>Code</c> and <c>Message</c>, if the server refuses. Throws <see cref="KeywardNetworkException"/> without a
    /// usable answer, <see cref="KeywardSignatureException"/> for an answer that is not genuine, <see cref="KeywardUsageException"/>
    /// for an invalid call, and <see cref="OperationCanceledException"/> if the caller cancels.
    /// </summary>
    public sealed partial class KeywardClient : IDisposable
    {
        private readonly CheckedOptions _options;
        private readonly Transport _transport;
        private readonly object _gate = new object();
        private string _session;
        private SessionUser _user;
        /// <summary>By the last answer of the server, for the time without it.</summary>
        private SessionUser _known;
        /// <summary>The license key that signed in.</summary>
        private string _key;
        private readonly Away _away = new Away();
        private IReadOnlyDictionary<string, string> _public = new Dictionary<string, string>();
        private Task<Opened> _opening;
        private Task<Answered> _resuming;
        private Task<UserResult> _signingIn;
        private int _signOuts;
        private Task<string> _hwid;
        private Task<Dictionary<string, object>> _device;
        private string _failedRenewalUser;
        private long _renewalPausedUntil;

        /// <summary>A call that was granted waits no longer for its lease.</summary>
        private const int LongestRenewalMs = 5000;
        private const int RenewalPauseMs = 60000;
        /// <summary>How long a call waits for the server if what is stored could answer.</summary>
        private const int PatienceMs = 3000;

        /// <summary>The result of <c>init</c> and its session; a refusal has none.</summary>
        private sealed class Opened
        {
            public InitResult Result;
            public string Session;
        }

        /// <summary>A result, and the session that it belongs to; a refusal to open one has none.</summary>
        private sealed class Answered
        {
            public UserResult Result;
            public string Session;
        }

        /// <summary>When a call ends, and whether no sign-out has begun since it was made.</summary>
        private sealed class Limits
        {
            public long Deadline;
            public Func<bool> IsCurrent;
            public CancellationToken Cancellation;

            public Limits Until(long deadline) => new Limits { Deadline = deadline, IsCurrent = IsCurrent, Cancellation = Cancellation };
            /// <summary>The limits of work that other calls wait for, too: none of them can cancel it.</summary>
            public Limits ForOthers() => new Limits { Deadline = Deadline, IsCurrent = IsCurrent };
        }

        /// <summary>Throws <see cref="KeywardUsageException"/> (<c>invalid_options</c>) if an option is missing or invalid. Sends nothing.</summary>
        public KeywardClient(KeywardOptions options)
        {
            _options = CheckedOptions.From(options);
            _transport = new Transport(_options);
        }

        /// <summary>The clock that leases and activations see, in seconds since 1970.</summary>
        internal Func<double> Now
        {
            set { if (_options.Offline != null) _options.Offline.Time.Now = value; }
        }

        /// <summary>The clock that counts on whatever the user sets, in seconds.</summary>
        internal Func<double> Elapsed
        {
            set
            {
                _away.Elapsed = value;
                if (_options.Offline != null) _options.Offline.Time.Elapsed = value;
            }
        }

        /// <summary>
        /// Opens a session and reports whether the app is enabled and has a newer version. Other calls do this when needed.
        /// Calling it again starts a new session, signed out.
        /// </summary>
        public Task<InitResult> InitAsync(CancellationToken cancellationToken = default(CancellationToken)) =>
            Run(async deadline =>
            {
                lock (_gate) _key = null;
                _away.End();
                return (await OpenAsync(deadline, cancellationToken).ConfigureAwait(false)).Result;
            }, cancellationToken);

        /// <summary>
        /// Creates an end user from an unused license key and signs in. Never retried automatically: after a
        /// <see cref="KeywardNetworkException"/> with <c>OutcomeUnknown</c>, try <see cref="LoginAsync"/> to find out whether it succeeded.
        /// </summary>
        public Task<UserResult> RegisterAsync(string username, string password, string licenseKey, string email = null,
            CancellationToken cancellationToken = default(CancellationToken)) => RunCurrent(async limits =>
        {
            Require(username, "username");
            Require(password, "password");
            Dictionary<string, object> body = JsonText.Object(
                "username", username, "password", password, "licenseKey", ToKey(licenseKey), "email", email);
            await AddSignInFactsAsync(body).ConfigureAwait(false);
            return await SignInAsync(new Call("POST", "register", body, repeatable: false), null, limits).ConfigureAwait(false);
        }, cancellationToken);

        /// <summary>Signs an end user in by username and password; the first sign-in binds the user to this machine.</summary>
        public Task<UserResult> LoginAsync(string username, string password,
            CancellationToken cancellationToken = default(CancellationToken)) => RunCurrent(async limits =>
        {
            Dictionary<string, object> body = JsonText.Object("username", Require(username, "username"), "password", Require(password, "password"));
            await AddSignInFactsAsync(body).ConfigureAwait(false);
            return await SignInAsync(new Call("POST", "login", body, repeatable: true), null, limits).ConfigureAwait(false);
        }, cancellationToken);

        /// <summary>Signs in by license key alone; the first use redeems the key and binds it to this machine.</summary>
        public Task<UserResult> LicenseAsync(string licenseKey,
            CancellationToken cancellationToken = default(CancellationToken)) => RunCurrent(async limits =>
        {
            string key = ToKey(licenseKey);
            Dictionary<string, object> body = JsonText.Object("licenseKey", key);
            await AddSignInFactsAsync(body).ConfigureAwait(false);
            return await OrOfflineAsync("license", attemptLimits => SignInAsync(new Call("POST", "license", body, repeatable: true), key, attemptLimits), key, limits).ConfigureAwait(false);
        }, cancellationToken);

        /// <summary>
        /// Redeems a key for an end user and adds the key's remaining time. Never retried automatically: after a
        /// <see cref="KeywardNetworkException"/> with <c>OutcomeUnknown</c>, compare the user's <c>ExpiresAt</c>.
        /// </summary>
        public Task<UserResult> UpgradeAsync(string username, string licenseKey,
            CancellationToken cancellationToken = default(CancellationToken)) => Run(deadline =>
        {
            Dictionary<string, object> body = JsonText.Object("username", Require(username, "username"), "licenseKey", ToKey(licenseKey));
            var limits = new Limits { Deadline = deadline, IsCurrent = () => true, Cancellation = cancellationToken };
            return ResultOfAsync(CallAsync(new Call("POST", "upgrade", body, repeatable: false), true, limits));
        }, cancellationToken);

        /// <summary>
        /// Returns the signed-in user and its expiry; call it before every unit of work. A ban, pause or expiry is reported from the
        /// next call on. <c>sessionUnauthed</c> means that no user is signed in. After <see cref="LicenseAsync"/> it signs in again by
        /// itself once the session has ended, and with the option <c>Storage</c> also after a restart, if the vendor lets the app
        /// remember sign-ins.
        /// </summary>
        public Task<UserResult> SessionAsync(CancellationToken cancellationToken = default(CancellationToken)) => RunCurrent(limits =>
            OrOfflineAsync("session", CheckAsync, null, limits), cancellationToken);

        /// <summary>
        /// Ends the session. Always succeeds locally, even if the server is not reached or there is no session. A sign-in or
        /// <c>SessionAsync</c> that is still under way ends with <c>sessionUnauthed</c>, also if the server grants it.
        /// </summary>
        public Task<KeywardResult> LogoutAsync(CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
        {
            string session;
            lock (_gate)
            {
                session = _session;
                _signOuts++;
                _session = null;
                _user = _known = null;
                _key = null;
            }
            _away.End();
            if (_options.Offline != null) await _options.Offline.ForgetAsync().ConfigureAwait(false);
            if (session == null) return new KeywardResult(JsonText.Object("ok", true));
            var call = new Call("POST", "logout", null, repeatable: true) { Session = session };
            Outcome outcome = await _transport.SendAsync(call, deadline, cancellationToken).ConfigureAwait(false);
            // The session has already ended, which is what the caller wants.
            if (!outcome.Ok && outcome.Code != LicenseState.SessionUnauthed) return new KeywardResult(outcome.Refusal());
            Dictionary<string, object> done = JsonText.Object("message", outcome.Ok && outcome.Message != "" ? outcome.Message : null);
            done["ok"] = true;
            return new KeywardResult(done);
        }, cancellationToken);

        /// <summary>
        /// Starts the only trial of this machine, or signs in to it while it runs; then <c>trialUsed</c>. Without a hardware id the
        /// server refuses. <paramref name="type"/> is a trial type of the app; by default its oldest.
        /// </summary>
        public Task<UserResult> TrialAsync(string type = null, string email = null,
            CancellationToken cancellationToken = default(CancellationToken)) => RunCurrent(async limits =>
        {
            Dictionary<string, object> body = JsonText.Object("type", type, "email", email);
            await AddMachineAsync(body).ConfigureAwait(false);
            return await SignInAsync(new Call("POST", "trial", body, repeatable: true), null, limits).ConfigureAwait(false);
        }, cancellationToken);

        /// <summary>Lists the devices of the signed-in user, if the app lets users free devices.</summary>
        public Task<DevicesResult> DevicesAsync(CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
            new DevicesResult(await SignedInAsync(new Call("GET", "devices", null, repeatable: true), "devices", deadline, cancellationToken).ConfigureAwait(false)),
            cancellationToken);

        /// <summary>
        /// Frees a device of the signed-in user, so that another one can take its place. <c>device_cooldown</c> says in
        /// <c>Details.Until</c> when the next may be freed. Never retried automatically.
        /// </summary>
        public Task<KeywardResult> FreeDeviceAsync(string deviceId,
            CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
        {
            // Addresses drop . and .., so they would name another call.
            if (string.IsNullOrEmpty(deviceId) || deviceId == "." || deviceId == "..")
                throw new KeywardUsageException("invalid_argument", "deviceId must be a text that can be part of an address");
            string name;
            try
            {
                name = "devices/" + Uri.EscapeDataString(deviceId);
            }
            catch (UriFormatException cause)
            {
                throw new KeywardUsageException("invalid_argument", "deviceId is not an id", cause);
            }
            return new KeywardResult(await SignedInAsync(new Call("DELETE", name, null, repeatable: false), null, deadline, cancellationToken).ConfigureAwait(false));
        }, cancellationToken);

        /// <summary>
        /// Checks a license in one call, without signing in. <c>Ok</c> only if it can be used now on this machine. Without
        /// <paramref name="activate"/> it binds nothing, so an unused key is valid on any number of machines: prefer
        /// <see cref="LicenseAsync"/>, or pass true, which redeems an unused key and binds this machine.
        /// </summary>
        public Task<ValidateResult> ValidateAsync(string licenseKey, bool activate = false,
            CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
        {
            Call call = await ToValidationAsync(ToKey(licenseKey), activate).ConfigureAwait(false);
            Outcome outcome = await _transport.SendAsync(call, deadline, cancellationToken).ConfigureAwait(false);
            if (!outcome.Ok) return new ValidateResult(outcome.Refusal());
            outcome.Data.TryGetValue("valid", out object valid);
            if (true.Equals(valid)) return new ValidateResult(Granted(outcome, "license"));
            string code = JsonText.Text(outcome.Data, "code");
            if (!false.Equals(valid) || code == null) throw Unexpected("validate");
            return new ValidateResult(Outcome.ToRefusal(code, outcome.Message ?? code, null, outcome.Data));
        }, cancellationToken);

        /// <summary>
        /// Whether the license of the signed-in user includes a feature, by the last answer to a sign-in or <c>SessionAsync</c>. False
        /// before, and after a refusal or <c>LogoutAsync</c>.
        /// </summary>
        public bool Has(string feature)
        {
            lock (_gate) return _user != null && _user.Features.Contains(feature);
        }

        /// <summary>
        /// A variable of the signed-in user or the app, by the last answers; before the sign-in a public one. Null if there is none of
        /// that name.
        /// </summary>
        public string Variable(string name)
        {
            if (name == null) return null;
            lock (_gate)
            {
                if (_user != null && _user.Variables.TryGetValue(name, out string own)) return own;
                return _public.TryGetValue(name, out string value) ? value : null;
            }
        }

        /// <summary>Closes the connections. Calls that are under way end with an error.</summary>
        public void Dispose() => _transport.Dispose();

        private static string ToKey(string licenseKey) => Text.Trim(Require(licenseKey, "licenseKey"));
    }

    // KeywardOptions.cs

    /// <summary>How a program reaches and verifies its Keyward server.</summary>
    public sealed class KeywardOptions
    {
        /// <summary>The server's public address without <c>/api</c>, for example <c>https://licenses.example.com</c>.</summary>
        public string BaseUrl { get; set; }

        /// <summary>The app's 8-character identifier.</summary>
        public string AppId { get; set; }

        /// <summary>The app's 32-character secret.</summary>
        public string Secret { get; set; }

        /// <summary>
        /// The app's public keys: an array of <see cref="PublicJwk"/>, one of them, or the JSON text of
        /// <c>GET /api/client/apps/{appId}/keys</c> or its <c>keys</c>. Embed them in the program: keys fetched at run time
        /// prove nothing.
        /// </summary>
        public PublicKeySet PublicKeys { get; set; }

        /// <summary>The program's version, compared with the app's version on the server; 1 to 32 characters.</summary>
        public string Version { get; set; }

        /// <summary>The hash of the program's build, for apps that check it; up to 256 characters.</summary>
        public string Hash { get; set; }

        /// <summary>The language of <see cref="KeywardResult.Message"/>, as a BCP 47 tag such as <c>de-AT</c>; up to 35 characters.</summary>
        public string Locale { get; set; }

        /// <summary>
        /// A hardware id of your own, 1 to 256 characters, a function that returns one, or <see cref="HardwareId.None"/>. Default: a
        /// salted hash of the machine's own id.
        /// </summary>
        public HardwareId Hwid { get; set; } = HardwareId.Default;

        /// <summary>
        /// Whether to send the machine's name, its system and salted hashes of its parts with the hardware id, by which the server
        /// recognizes a machine that changed. Default: true, but false with a hardware id of your own.
        /// </summary>
        public bool? Device { get; set; }

        /// <summary>
        /// Lets the program run without the server, and stay signed in: <see cref="KeywardStorage.UserData"/>, or a place of your
        /// own. Default: none.
        /// </summary>
        public IKeywardStorage Storage { get; set; }

        /// <summary>Timeout of one call in milliseconds, including retries; 100 to 600000.</summary>
        public int TimeoutMs { get; set; } = 15000;

        /// <summary>
        /// An HTTP proxy, <c>http://[user:password@]host:port</c>. <c>https</c> addresses go through a tunnel. Default: the settings
        /// of the system.
        /// </summary>
        public string Proxy { get; set; }

        /// <summary>
        /// Called with an event for every attempt of a call, on a thread of the pool. Events never contain a secret, a key, a token, a
        /// hardware id or a body. What it throws is ignored.
        /// </summary>
        public Action<LogEvent> Log { get; set; }

        /// <summary>Replaces the handler that sends requests, for tests and other transports. It must not follow redirects or decompress.</summary>
        public HttpMessageHandler Handler { get; set; }
    }

    /// <summary>What the program sends as hardware id. A text converts by itself: <c>Hwid = "my-id"</c>.</summary>
    public sealed class HardwareId
    {
        /// <summary>A salted hash of the machine's own id.</summary>
        public static readonly HardwareId Default = new HardwareId(null);

        /// <summary>None is sent: users with a hardware lock are refused.</summary>
        public static readonly HardwareId None = new HardwareId(null);

        internal readonly Func<Task<string>> Find;
        /// <summary>Set for a text: it is checked at once.</summary>
        internal readonly string Text;
        internal readonly bool IsText;

        private HardwareId(Func<Task<string>> find) { Find = find; }
        private HardwareId(string text, bool isText) { Text = text; IsText = isText; }

        /// <summary>Calls a function when the id is needed, once; after a failure again. Its exceptions end as <c>hwid_unavailable</c>.</summary>
        public static HardwareId From(Func<string> find) =>
            find == null ? new HardwareId(null, true) : new HardwareId(() => Task.FromResult(find()));

        /// <summary>As <see cref="From"/>, for a function that waits.</summary>
        public static HardwareId FromAsync(Func<Task<string>> find) =>
            find == null ? new HardwareId(null, true) : new HardwareId(find);

        /// <summary>An id of your own. A null text is refused by the client's constructor.</summary>
        public static implicit operator HardwareId(string text) => new HardwareId(text, true);
    }

    // KeywardStorage.cs

    /// <summary>A place that outlives the program, such as a file. Its content may be read and changed by the user.</summary>
    public interface IKeywardStorage
    {
        /// <summary>Returns what was last written; null or empty if there is nothing.</summary>
        Task<string> ReadAsync();
        Task WriteAsync(string text);
    }

    /// <summary>A place that several programs change: without a lock their changes may overwrite each other.</summary>
    public interface ILockedKeywardStorage : IKeywardStorage
    {
        /// <summary>Waits until no other program changes the content. Disposing the result lets the next one in.</summary>
        Task<IDisposable> LockAsync();
    }

    public static class KeywardStorage
    {
        /// <summary>
        /// A file of the app in the user's data folder, readable by the user alone. Programs in other languages on the same machine
        /// share it.
        /// </summary>
        public static readonly IKeywardStorage UserData = new FileStorage(null);

        /// <summary>A file of your own: it is created when needed, with the rights of the user alone.</summary>
        public static IKeywardStorage File(string path)
        {
            try
            {
                return new FileStorage(Path.GetFullPath(path));
            }
            catch (Exception cause) when (cause is ArgumentException || cause is NotSupportedException || cause is IOException)
            {
                throw new KeywardUsageException("invalid_options", "Storage: the path of the file is missing or broken", cause);
            }
        }
    }

    // LicenseState.cs

    // Written by packages/sdk/generate.ts from the contract.
    /// <summary>Why the server refuses, by the name of the message that the app's owner can edit. Newer servers may send others.</summary>
    public static class LicenseState
    {
        public const string AppDisabled = "appDisabled";
        public const string UsernameTaken = "usernameTaken";
        public const string KeyNotFound = "keyNotFound";
        public const string KeyUsed = "keyUsed";
        public const string UsernameNotFound = "usernameNotFound";
        public const string PassMismatch = "passMismatch";
        public const string HwidMismatch = "hwidMismatch";
        public const string NoActiveSubs = "noActiveSubs";
        public const string HwidBlacklisted = "hwidBlacklisted";
        public const string PausedSub = "pausedSub";
        public const string VpnBlocked = "vpnBlocked";
        public const string KeyBanned = "keyBanned";
        public const string UserBanned = "userBanned";
        public const string SessionUnauthed = "sessionUnauthed";
        public const string HashCheckFail = "hashCheckFail";
        public const string PausedApp = "pausedApp";
        public const string UnTooShort = "unTooShort";
        public const string PwLeaked = "pwLeaked";
        public const string NoSeats = "noSeats";
        public const string UpdatesEnded = "updatesEnded";
        public const string TrialUsed = "trialUsed";
        public const string NotActivated = "notActivated";
    }

    // LogEvent.cs

    /// <summary>An event for <see cref="KeywardOptions.Log"/>.</summary>
    public sealed class LogEvent
    {
        /// <summary>
        /// Each attempt is a <c>request</c>, and then one of: <c>response</c>, a genuine answer; <c>retry</c>, an error after which
        /// the call is repeated; <c>failed</c>, an error that the program gets. <c>offline</c>: a lease or an activation answered.
        /// </summary>
        public string Event { get; internal set; }
        /// <summary>The call of the protocol, such as <c>license</c> or <c>init</c>.</summary>
        public string Call { get; internal set; }
        /// <summary>From 1; not with <c>offline</c>.</summary>
        public int? Attempt { get; internal set; }
        /// <summary>The HTTP status, if there was an answer.</summary>
        public int? Status { get; internal set; }
        /// <summary>The code of the refusal or of the error.</summary>
        public string Code { get; internal set; }
        /// <summary>Names the refusal, for the console.</summary>
        public string Reference { get; internal set; }
        /// <summary>How long the attempt took, in milliseconds.</summary>
        public long? DurationMs { get; internal set; }
        /// <summary>The pause before the next attempt, in milliseconds.</summary>
        public long? DelayMs { get; internal set; }
    }

    // PublicKeySet.cs

    /// <summary>A public key of an app: an Ed25519 JSON Web Key.</summary>
    public sealed class PublicJwk
    {
        public string Kty { get; set; } = "OKP";
        public string Crv { get; set; } = "Ed25519";
        public string Kid { get; set; }
        public string X { get; set; }
        public string Use { get; set; }
        /// <summary><c>next</c>, <c>current</c> or <c>retired</c>; a <c>revoked</c> key is ignored.</summary>
        public string Status { get; set; }
    }

    /// <summary>The app's public keys. Arrays of keys, one key and JSON texts convert by themselves.</summary>
    public sealed class PublicKeySet
    {
        /// <summary>In the form of parsed JSON; null for a text that is not JSON.</summary>
        internal readonly object Json;

        private PublicKeySet(object json) { Json = json; }

        /// <summary>Reads a JWK, an array of them, or a JWK set. The client's constructor reports a broken text.</summary>
        public static PublicKeySet Parse(string json) =>
            new PublicKeySet(JsonText.TryParse(json, out object value) ? value : null);

        public static implicit operator PublicKeySet(string json) => Parse(json);

        public static implicit operator PublicKeySet(PublicJwk key) => new[] { key };

        public static implicit operator PublicKeySet(PublicJwk[] keys) => new PublicKeySet(keys?.Select(ToJson).ToList());

        private static object ToJson(PublicJwk key) => key == null
            ? null
            : JsonText.Object("kty", key.Kty, "crv", key.Crv, "kid", key.Kid, "x", key.X, "use", key.Use, "status", key.Status);
    }

    // Results.cs

    /// <summary>The result of a call: check <see cref="Ok"/> first and deny access unless it is true.</summary>
    public class KeywardResult
    {
        /// <summary>True for a verified success, false for a verified refusal.</summary>
        public bool Ok { get; }
        /// <summary>Why the server refuses: a <see cref="LicenseState"/>, or a general code such as <c>invalid_input</c>. Null after a success.</summary>
        public string Code { get; }
        /// <summary>The text to show to the end user.</summary>
        public string Message { get; }
        /// <summary>Names this refusal: show it to the end user, and the app's owner finds the reason in the console.</summary>
        public string Reference { get; }
        /// <summary>Facts for the end user; only after the password or the license key was right.</summary>
        public RefusalDetails Details { get; }
        /// <summary>Invalid inputs, if <see cref="Code"/> is <c>invalid_input</c>.</summary>
        public IReadOnlyList<InputError> Errors { get; }
        /// <summary>
        /// The whole result as parsed JSON, with the fields of newer servers: texts, numbers (double), truth values, null, lists and
        /// dictionaries.
        /// </summary>
        public IReadOnlyDictionary<string, object> Data => Json;

        internal readonly Dictionary<string, object> Json;

        internal KeywardResult(Dictionary<string, object> json)
        {
            Json = json;
            Ok = json.TryGetValue("ok", out object ok) && true.Equals(ok);
            Message = JsonText.Text(json, "message");
            if (Ok) return;
            Code = JsonText.Text(json, "code");
            Reference = JsonText.Text(json, "reference");
            if (json.TryGetValue("details", out object details) && details is Dictionary<string, object> facts) Details = new RefusalDetails(facts);
            if (json.TryGetValue("errors", out object errors) && errors is List<object> list)
                Errors = list.OfType<Dictionary<string, object>>().Select(each => new InputError(each)).ToList();
        }
    }

    /// <summary>An input that the server does not accept.</summary>
    public sealed class InputError
    {
        public string Path { get; }
        public string Message { get; }

        internal InputError(Dictionary<string, object> json)
        {
            Path = JsonText.Text(json, "path");
            Message = JsonText.Text(json, "message");
        }
    }

    /// <summary>Facts behind a refusal. Newer servers may send more, see <see cref="Data"/>.</summary>
    public sealed class RefusalDetails
    {
        /// <summary>When the license ends or ended; null for never.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        /// <summary>When a license that counts from its first use was first used.</summary>
        public DateTimeOffset? StartedAt { get; }
        /// <summary>When the call may succeed: the next seat or the next device becomes free.</summary>
        public DateTimeOffset? Until { get; }
        public DeviceUse Devices { get; }
        public DeviceUse Seats { get; }
        public IReadOnlyDictionary<string, object> Data { get; }

        internal RefusalDetails(Dictionary<string, object> json)
        {
            ExpiresAt = JsonText.Time(json, "expiresAt");
            StartedAt = JsonText.Time(json, "startedAt");
            Until = JsonText.Time(json, "until");
            Devices = DeviceUse.From(json, "devices");
            Seats = DeviceUse.From(json, "seats");
            Data = json;
        }
    }

    /// <summary>The result of <see cref="KeywardClient.InitAsync"/>.</summary>
    public sealed class InitResult : KeywardResult
    {
        /// <summary>When the session expires unless it is used.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        public string AppName { get; }
        /// <summary>The app's current version on the server.</summary>
        public string AppVersion { get; }
        /// <summary>True when the server's version is newer than the one given to the constructor.</summary>
        public bool UpdateAvailable { get; }
        /// <summary>The app's public variables by name; see <see cref="KeywardClient.Variable"/>.</summary>
        public IReadOnlyDictionary<string, string> Variables { get; }

        internal InitResult(Dictionary<string, object> json) : base(json)
        {
            ExpiresAt = JsonText.Time(json, "expiresAt");
            Dictionary<string, object> app = JsonText.Child(json, "app");
            AppName = JsonText.Text(app, "name");
            AppVersion = JsonText.Text(app, "version");
            UpdateAvailable = JsonText.Flag(json, "updateAvailable");
            Variables = JsonText.Texts(json, "variables");
        }
    }

    /// <summary>The result of a sign-in and of <see cref="KeywardClient.SessionAsync"/>.</summary>
    public sealed class UserResult : KeywardResult
    {
        /// <summary>The signed-in end user; null after a refusal.</summary>
        public SessionUser User { get; }
        /// <summary>Set if a lease or an activation of this machine stands in for the server.</summary>
        public OfflineState Offline { get; }

        internal UserResult(Dictionary<string, object> json) : base(json)
        {
            if (!Ok) return;
            User = new SessionUser(JsonText.Child(json, "user"));
            if (json.ContainsKey("offline")) Offline = new OfflineState(JsonText.Child(json, "offline"));
        }
    }

    // SessionUser.cs

    /// <summary>The signed-in end user.</summary>
    public sealed class SessionUser
    {
        public string Id { get; }
        /// <summary>The license key itself for users who signed in by key alone.</summary>
        public string Username { get; }
        public string Email { get; }
        /// <summary>When the license ends; null if it never expires.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        /// <summary>True after <see cref="ExpiresAt"/>, while the vendor's grace days still allow access.</summary>
        public bool InGrace { get; }
        /// <summary><c>date</c>: until a date; <c>forever</c>: never expires; <c>first_use</c>: for a duration since the first use.</summary>
        public string Term { get; }
        public DateTimeOffset? CreatedAt { get; }
        public DateTimeOffset? LastLoginAt { get; }
        /// <summary>Whether the user is bound to a machine.</summary>
        public bool HwidBound { get; }
        /// <summary>Names of the features that the license includes; see <see cref="KeywardClient.Has"/>.</summary>
        public IReadOnlyList<string> Features { get; }
        /// <summary>The app's variables for signed-in users, and the user's own; see <see cref="KeywardClient.Variable"/>.</summary>
        public IReadOnlyDictionary<string, string> Variables { get; }
        /// <summary>The license covers versions released until then; null if it covers all.</summary>
        public DateTimeOffset? UpdatesUntil { get; }
        /// <summary>How many devices the user has, of how many.</summary>
        public DeviceUse Devices { get; }
        /// <summary>When the seat of a floating license ends: call <c>SessionAsync</c> before. Null for other licenses.</summary>
        public DateTimeOffset? SeatUntil { get; }
        /// <summary>True if the license covers a newer version; null from servers that do not say, and offline what they said last.</summary>
        public bool? UpdateAvailable { get; }

        internal SessionUser(Dictionary<string, object> json)
        {
            Id = JsonText.Text(json, "_id");
            Username = JsonText.Text(json, "username");
            Email = JsonText.Text(json, "email");
            ExpiresAt = JsonText.Time(json, "expiresAt");
            InGrace = JsonText.Flag(json, "inGrace");
            Term = JsonText.Text(json, "term");
            CreatedAt = JsonText.Time(json, "createdAt");
            LastLoginAt = JsonText.Time(json, "lastLoginAt");
            HwidBound = JsonText.Flag(json, "hwidBound");
            Features = JsonText.TextList(json, "features");
            Variables = JsonText.Texts(json, "variables");
            UpdatesUntil = JsonText.Time(json, "updatesUntil");
            Devices = DeviceUse.From(json, "devices");
            SeatUntil = JsonText.Time(JsonText.Child(json, "seat"), "until");
            UpdateAvailable = json.TryGetValue("updateAvailable", out object isNewer) ? isNewer as bool? : null;
        }
    }

    /// <summary>How many are used, of how many; a limit of -1 is unlimited.</summary>
    public sealed class DeviceUse
    {
        public int Used { get; }
        public int Limit { get; }

        private DeviceUse(Dictionary<string, object> json)
        {
            Used = JsonText.Integer(json, "used");
            Limit = JsonText.Integer(json, "limit");
        }

        internal static DeviceUse From(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is Dictionary<string, object> use ? new DeviceUse(use) : null;
    }

    /// <summary>How long a program may go on without the server.</summary>
    public sealed class OfflineState
    {
        /// <summary>When the lease or the activation ends; null if the activation never ends.</summary>
        public DateTimeOffset? Until { get; }
        /// <summary>When the program must stop; null for never.</summary>
        public DateTimeOffset? GraceUntil { get; }
        /// <summary>True between the two: tell the user to go online.</summary>
        public bool InGrace { get; }

        internal OfflineState(Dictionary<string, object> json)
        {
            Until = JsonText.Time(json, "until");
            GraceUntil = JsonText.Time(json, "graceUntil");
            InGrace = JsonText.Flag(json, "inGrace");
        }
    }

    // ValidateResult.cs

    /// <summary>The result of <see cref="KeywardClient.ValidateAsync"/>.</summary>
    public sealed class ValidateResult : KeywardResult
    {
        public ValidatedLicense License { get; }
        /// <summary>Whether this machine is a device of the license. False for an unused key: it is valid on any number of machines.</summary>
        public bool Activated { get; }

        internal ValidateResult(Dictionary<string, object> json) : base(json)
        {
            if (!Ok) return;
            License = new ValidatedLicense(JsonText.Child(json, "license"));
            Activated = JsonText.Flag(json, "activated");
        }
    }

    public sealed class ValidatedLicense
    {
        public string Key { get; }
        public bool Used { get; }
        public string Username { get; }
        /// <summary>Null if it never expires, or if its duration starts with the first use.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        public bool InGrace { get; }
        /// <summary><c>date</c>, <c>forever</c> or <c>first_use</c>.</summary>
        public string Term { get; }

        internal ValidatedLicense(Dictionary<string, object> json)
        {
            Key = JsonText.Text(json, "key");
            Used = JsonText.Flag(json, "used");
            Username = JsonText.Text(json, "username");
            ExpiresAt = JsonText.Time(json, "expiresAt");
            InGrace = JsonText.Flag(json, "inGrace");
            Term = JsonText.Text(json, "term");
        }
    }
}

// Not part of the API. A namespace of its own keeps these names out of files with "using Keyward".
namespace Keyward.Internal
{
    // Away.cs

    /// <summary>Whether the server is away, so that calls need not wait for it, and who asks it meanwhile.</summary>
    internal sealed class Away
    {
        private const double AwaySeconds = 60;
        private const double ProbePauseSeconds = 5;

        private readonly object _gate = new object();
        private double _until;
        private int _ends;
        private string _code;
        private double _nextProbeAt;
        private bool _isProbing;

        public Func<double> Elapsed = () => Clock.NowMs / 1000.0;

        /// <summary>The code of the last network error while the server is away, else null.</summary>
        public string Code
        {
            get { lock (_gate) return Elapsed() < _until ? _code : null; }
        }

        public void Note(KeywardNetworkException error)
        {
            lock (_gate)
            {
                _code = error.Code;
                _until = Elapsed() + AwaySeconds;
            }
        }

        public void End()
        {
            lock (_gate)
            {
                _until = 0;
                _ends++;
            }
        }

        /// <summary>Asks the server in the background, unless that is done already or was just tried.</summary>
        public void Probe(Func<Task> ask)
        {
            int ends;
            lock (_gate)
            {
                if (_isProbing || Elapsed() < _nextProbeAt) return;
                _isProbing = true;
                ends = _ends;
            }
            Task.Run(() => RunAsync(ask, ends));
        }

        private async Task RunAsync(Func<Task> ask, int ends)
        {
            try
            {
                await ask().ConfigureAwait(false);
                End();
            }
            catch (KeywardNetworkException error)
            {
                // The server may have answered another call since.
                if (ends == Volatile.Read(ref _ends)) Note(error);
            }
            catch (Exception)
            {
                // The next call learns from the server what is wrong.
                End();
            }
            lock (_gate)
            {
                _isProbing = false;
                _nextProbeAt = Elapsed() + ProbePauseSeconds;
            }
        }
    }

    // Bytes.cs

    internal static class Bytes
    {
        public static string ToHex(byte[] bytes)
        {
            var text = new StringBuilder(bytes.Length * 2);
            foreach (byte each in bytes) text.Append("0123456789abcdef"[each >> 4]).Append("0123456789abcdef"[each & 15]);
            return text.ToString();
        }

        /// <summary>Decodes hex digits that are known to be some.</summary>
        public static byte[] FromHex(string hex)
        {
            var bytes = new byte[hex.Length / 2];
            for (int at = 0; at < bytes.Length; at++) bytes[at] = byte.Parse(hex.Substring(at * 2, 2), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            return bytes;
        }

        public static string ToBase64Url(byte[] bytes) => Convert.ToBase64String(bytes).Replace('+', '-').Replace('/', '_').TrimEnd('=');

        /// <summary>Decodes canonical base64 only, so that each value has one spelling; otherwise null.</summary>
        public static byte[] FromBase64(string text)
        {
            if (text.Length % 4 != 0) return null;
            string symbols = text.TrimEnd('=');
            if (text.Length - symbols.Length > 2) return null;
            if (!symbols.All(each => (Text.IsWord(each) && each != '_') || each == '+' || each == '/')) return null;
            try
            {
                byte[] bytes = Convert.FromBase64String(text);
                return Convert.ToBase64String(bytes) == text ? bytes : null;
            }
            catch (FormatException)
            {
                return null;
            }
        }

        /// <summary>Decodes canonical base64url without padding; otherwise null.</summary>
        public static byte[] FromBase64Url(string text)
        {
            if (text == null || text.IndexOfAny(new[] { '+', '/', '=' }) >= 0) return null;
            return FromBase64(text.Replace('-', '+').Replace('_', '/') + new string('=', (4 - text.Length % 4) % 4));
        }
    }

    internal static class Secure
    {
        public static byte[] Sha256(byte[] bytes)
        {
            using (SHA256 hash = SHA256.Create()) return hash.ComputeHash(bytes);
        }

        public static string Sha256Hex(string text) => Bytes.ToHex(Sha256(Text.ToUtf8(text)));

        public static string HmacHex(string key, string text)
        {
            using (var hmac = new HMACSHA256(Text.ToUtf8(key))) return Bytes.ToHex(hmac.ComputeHash(Text.ToUtf8(text)));
        }

        public static byte[] Random(int length)
        {
            var bytes = new byte[length];
            using (RandomNumberGenerator source = RandomNumberGenerator.Create()) source.GetBytes(bytes);
            return bytes;
        }

        /// <summary>A random number from 0 to 1.</summary>
        public static double Fraction() => BitConverter.ToUInt32(Random(4), 0) / (double)uint.MaxValue;
    }

    // Call.cs

    internal sealed class Call
    {
        public readonly string Method;
        /// <summary>Path below <c>/api/client/</c>.</summary>
        public readonly string Name;
        public readonly Dictionary<string, object> Body;
        /// <summary>Whether executing the call twice has the same effect as once.</summary>
        public readonly bool Repeatable;
        public string Session;

        public Call(string method, string name, Dictionary<string, object> body, bool repeatable)
        {
            Method = method;
            Name = name;
            Body = body;
            Repeatable = repeatable;
        }
    }

    /// <summary>A genuine answer: a success with its data, or a refusal.</summary>
    internal sealed class Outcome
    {
        public bool Ok;
        public int Status;
        public string Code;
        public string Message;
        /// <summary>After a success.</summary>
        public Dictionary<string, object> Data;
        private Dictionary<string, object> _answer;

        public static Outcome From(Answer answer)
        {
            Dictionary<string, object> answered = JsonText.TryParse(Text.FromUtf8(answer.Body), out object value) ? value as Dictionary<string, object> : null;
            if (answered != null && answered.TryGetValue("success", out object success))
            {
                string message = JsonText.Text(answered, "message");
                string code = JsonText.Text(answered, "code");
                if (answer.Status < 300 && true.Equals(success))
                    return new Outcome { Ok = true, Status = answer.Status, Message = message, Data = JsonText.Child(answered, "data") };
                if (answer.Status >= 400 && false.Equals(success) && code != null)
                    return new Outcome { Status = answer.Status, Code = code, Message = message ?? code, _answer = answered };
            }
            throw new KeywardNetworkException("unexpected_answer", "The answer with status " + Text.Of(answer.Status) + " is unknown", true, answer.Status);
        }

        public Dictionary<string, object> Refusal() =>
            ToRefusal(Code, Message, _answer.TryGetValue("errors", out object errors) ? errors as List<object> : null, _answer);

        public static Dictionary<string, object> ToRefusal(string code, string message, List<object> errors, Dictionary<string, object> facts)
        {
            facts.TryGetValue("details", out object details);
            return JsonText.Object("ok", false, "code", code, "message", message, "errors", errors,
                "reference", JsonText.Text(facts, "reference"), "details", details as Dictionary<string, object>);
        }

        /// <summary>The code and the reference of a refusal, which <c>validate</c> has in its data.</summary>
        public string LogCode => Ok ? JsonText.Text(Data, "code") : Code;
        public string LogReference => JsonText.Text(Ok ? Data : _answer, "reference");
    }

    // Certificates.cs

    /// <summary>What the platforms say about a certificate that they reject, before anything of the request is sent.</summary>
    internal static class Certificates
    {
        /// <summary>November 2026, in seconds since 1970.</summary>
        private const double MadeAt = 1793491200;

        public static KeywardNetworkException ToError(Exception error, Uri url) => ToError(error, url, Clock.UnixSeconds);

        /// <summary>Null if the error says something else.</summary>
        public static KeywardNetworkException ToError(Exception error, Uri url, double now)
        {
            string reason = null;
            for (Exception each = error; each != null; each = each.InnerException)
            {
                bool isTrust = each is WebException web && web.Status == WebExceptionStatus.TrustFailure;
                string text = each.Message;
                // .NET, .NET Framework and Mono, in this order; only .NET says more.
                if (isTrust || Says(text, "remote certificate") || Says(text, "certificate is invalid") || Says(text, "CERTIFICATE_VERIFY_FAILED"))
                    reason = text.Split('\n')[0].Trim();
            }
            if (reason == null) return null;
            string certificate = "The certificate of " + url.GetLeftPart(UriPartial.Authority);
            // Most platforms do not say that a certificate is not valid yet, but before this version was made no clock was right.
            if (Says(reason, "not yet valid") || now < MadeAt)
                return Of("clock", certificate + " is not valid yet (" + reason + "). Set the date and time of this computer, then try again.", error);
            return Of("certificate", certificate + (Says(reason, "NotTimeValid") || Says(reason, "expired")
                ? " has expired (" + reason + "). Check the date and time of this computer; if they are right, tell the vendor of this program."
                : " is not trusted (" + reason + "). A proxy, a virus scanner or another network may be in between; if not, tell the vendor of this program."), error);
        }

        private static bool Says(string text, string words) => text.IndexOf(words, StringComparison.OrdinalIgnoreCase) >= 0;

        private static KeywardNetworkException Of(string code, string message, Exception cause) =>
            new KeywardNetworkException(code, message, false, cause: cause);
    }

    // CheckedOptions.cs

    internal sealed class CheckedOptions
    {
        public Uri Origin;
        /// <summary>Path of the public URL, percent-encoded, without a trailing slash.</summary>
        public string Prefix;
        public string AppId;
        public string Secret;
        public KeyRing Keys;
        public string Version;
        public string Hash;
        public string Locale;
        public HardwareId Hwid;
        public bool Device;
        public Offline Offline;
        public int TimeoutMs;
        public ProxyAddress Proxy;
        public Action<LogEvent> Log;
        public HttpMessageHandler Handler;

        /// <summary>Throws <c>invalid_options</c> that names the first invalid one.</summary>
        public static CheckedOptions From(KeywardOptions options)
        {
            if (options == null) throw Wrong("Expected options");
            HardwareId hwid = options.Hwid;
            if (hwid == null) throw Wrong("Hwid is null: HardwareId.None sends none");
            if (options.TimeoutMs < 100 || options.TimeoutMs > 600000) throw Wrong("TimeoutMs must be 100 to 600000");
            if (hwid.IsText) Limited("Hwid", hwid.Text, 256);
            if (options.Proxy != null && options.Handler != null) throw Wrong("Pass either Proxy or Handler");
            Uri address = ToAddress(options.BaseUrl);
            KeyRing keys = KeyRing.From(options.PublicKeys);
            var result = new CheckedOptions
            {
                Origin = new Uri(address.GetLeftPart(UriPartial.Authority)),
                Prefix = address.AbsolutePath.TrimEnd('/'),
                AppId = Limited("AppId", options.AppId, 64),
                Secret = Limited("Secret", options.Secret, 128),
                Keys = keys,
                Version = Limited("Version", options.Version, 32),
                Hash = options.Hash == null ? null : Limited("Hash", options.Hash, 256),
                Locale = options.Locale == null ? null : Limited("Locale", options.Locale, 35),
                Hwid = hwid,
                Device = options.Device ?? ReferenceEquals(hwid, HardwareId.Default),
                TimeoutMs = options.TimeoutMs,
                Proxy = options.Proxy == null ? null : ProxyAddress.From(options.Proxy),
                Log = ToLog(options.Log),
                Handler = options.Handler,
            };
            // It is sent as a header.
            if (result.AppId.Any(each => each < ' ' || each > '~')) throw Wrong("AppId has characters that no app id has");
            if (options.Storage != null)
            {
                IKeywardStorage place = ReferenceEquals(options.Storage, KeywardStorage.UserData) ? FileStorage.OfApp(result.AppId) : options.Storage;
                result.Offline = new Offline(place, result.AppId, keys);
            }
            return result;
        }

        private static string Limited(string name, string value, int max)
        {
            if (value != null && value.Length >= 1 && value.Length <= max) return value;
            throw Wrong(name + " must be a text of 1 to " + max + " characters");
        }

        private static Uri ToAddress(string baseUrl)
        {
            if (!Uri.TryCreate(Limited("BaseUrl", baseUrl, 2048), UriKind.Absolute, out Uri address)) throw Wrong("BaseUrl is not an address");
            if (address.Scheme != "https" && address.Scheme != "http") throw Wrong("BaseUrl must be http or https");
            if (address.UserInfo != "") throw Wrong("BaseUrl must not carry a user or a password");
            if (address.Query.Length > 1 || address.Fragment.Length > 1) throw Wrong("BaseUrl must not have a query or a fragment");
            if (address.Host == "") throw Wrong("BaseUrl has no host");
            // Signatures protect verdicts over plain HTTP, but passwords are sent in clear text.
            if (address.Scheme == "http" && !address.IsLoopback && !address.Host.EndsWith(".localhost", StringComparison.OrdinalIgnoreCase))
                Trace.TraceWarning("KEYWARD_PLAIN_HTTP: " + address.GetLeftPart(UriPartial.Authority) + " is not encrypted: passwords and keys can be read on the way");
            return address;
        }

        /// <summary>A hook must not change the result of a call, whatever it does.</summary>
        private static Action<LogEvent> ToLog(Action<LogEvent> log)
        {
            if (log == null) return each => { };
            return each =>
            {
                try
                {
                    log(each);
                }
                catch (Exception)
                {
                }
            };
        }

        public static KeywardUsageException Wrong(string message) => new KeywardUsageException("invalid_options", message);
    }

    // Clock.cs

    /// <summary>Milliseconds that no change of the clock affects.</summary>
    internal static class Clock
    {
        private static readonly Stopwatch Running = Stopwatch.StartNew();
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        public static long NowMs => Running.ElapsedMilliseconds;
        public static double UnixSeconds => (DateTime.UtcNow - Epoch).TotalSeconds;

        /// <summary>As <c>Date.toISOString</c>, within the years that .NET has.</summary>
        public static string ToIso(double seconds)
        {
            double latest = (DateTime.MaxValue - Epoch).TotalMilliseconds;
            double ms = Math.Min(Math.Max(Math.Floor(seconds * 1000), 0), latest);
            return new DateTime(Epoch.Ticks + Math.Min((long)ms * TimeSpan.TicksPerMillisecond, DateTime.MaxValue.Ticks - Epoch.Ticks), DateTimeKind.Utc)
                .ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        }
    }

    // DefaultHwid.cs

    /// <summary>A stable id of this machine for one app. The raw id never leaves the machine, and two apps get unrelated ids.</summary>
    internal static class DefaultHwid
    {
        private const int Attempts = 3;
        private const int PauseMs = 100;

        public static async Task<string> FindAsync(string appId, Machine machine)
        {
            string id = await FindMachineIdAsync(machine).ConfigureAwait(false);
            if (id == null)
                throw new KeywardUsageException("hwid_unavailable", "This machine has no id of its own. Pass the option Hwid, or HardwareId.None to send none.");
            return Of(appId, id);
        }

        /// <summary>The hardware id of a machine's identity, <c>source:id</c>.</summary>
        public static string Of(string appId, string machine) => Secure.HmacHex("keyward-hwid-v1:" + appId, machine);

        private static async Task<string> FindMachineIdAsync(Machine machine)
        {
            foreach (KeyValuePair<string, Func<string>> source in Sources(machine))
            {
                string id = Text.Lower(Text.Trim(await ReadSourceAsync(source.Value).ConfigureAwait(false)));
                // Placeholder ids of firmware and disk images are shared by many machines.
                if (!DeviceParts.IsPlaceholder(id) && !id.All(each => each == '0' || each == 'f' || each == '-')) return source.Key + ":" + id;
            }
            return NetworkId(machine);
        }

        /// <summary>Returns an empty text if this machine does not have the source, or this user may never read it.</summary>
        private static async Task<string> ReadSourceAsync(Func<string> ask)
        {
            for (int attempt = 1; ; attempt++)
            {
                try
                {
                    return ask();
                }
                catch (Machine.AbsentException)
                {
                    return "";
                }
                catch (Exception cause)
                {
                    // Another source would give the machine another id.
                    if (attempt == Attempts) throw new KeywardUsageException("hwid_unreadable", "The id of this machine could not be read. Try again later, or pass the option Hwid.", cause);
                }
                await Task.Delay(PauseMs).ConfigureAwait(false);
            }
        }

        private static KeyValuePair<string, Func<string>> Source(string name, Func<string> ask) => new KeyValuePair<string, Func<string>>(name, ask);

        private static IEnumerable<KeyValuePair<string, Func<string>>> Sources(Machine machine)
        {
            switch (machine.Platform)
            {
                case Machine.Linux:
                    yield return Source("machine-id", () => machine.Read("/etc/machine-id"));
                    yield return Source("machine-id", () => machine.Read("/var/lib/dbus/machine-id"));
                    yield return Source("dmi", () => machine.Read("/sys/class/dmi/id/product_uuid"));
                    break;
                case Machine.Mac:
                    yield return Source("ioplatform", () => machine.Property("machine"));
                    break;
                case Machine.Windows:
                    yield return Source("machine-guid", () => machine.Property("machine"));
                    break;
                default:
                    yield return Source("hostid", () => machine.Read("/etc/hostid"));
                    break;
            }
        }

        /// <summary>
        /// Fallback for containers and rare systems: the lowest MAC address and the host name. Software-assigned addresses come last,
        /// because they change with every container and tunnel.
        /// </summary>
        private static string NetworkId(Machine machine)
        {
            List<string> real = machine.Macs.Select(Text.Lower).Where(mac => mac != "00:00:00:00:00:00").ToList();
            List<string> burnedIn = real.Where(mac => !Machine.IsLocallyAdministered(mac)).ToList();
            string lowest = (burnedIn.Count > 0 ? burnedIn : real).OrderBy(mac => mac, StringComparer.Ordinal).FirstOrDefault();
            return lowest == null ? null : "network:" + lowest + ":" + Text.Lower(machine.Hostname);
        }
    }

    // DeviceParts.cs

    /// <summary>The name, the system and salted hashes of parts of this machine. Serial numbers never leave it unhashed.</summary>
    internal static class DeviceParts
    {
        public static Dictionary<string, object> DescribeOrNothing(string appId)
        {
            try
            {
                return Describe(appId, Machine.This());
            }
            catch (Exception)
            {
                return null;
            }
        }

        /// <summary>What cannot be read is left out.</summary>
        public static Dictionary<string, object> Describe(string appId, Machine machine)
        {
            Dictionary<string, object> parts = JsonText.Object();
            Action<string, Func<string>[]> add = (name, readers) =>
            {
                string value = Text.Lower(FirstOf(readers));
                if (!IsPlaceholder(value)) parts[name] = Secure.HmacHex("keyward-part-v1:" + appId + ":" + name, value);
            };
            Action<string, Func<string>> addOne = (name, reader) => add(name, new[] { reader });
            Action<string, string[]> addFile = (name, paths) => add(name, paths.Select(path => (Func<string>)(() => machine.Read(path))).ToArray());
            switch (machine.Platform)
            {
                case Machine.Linux:
                    addFile("machine", new[] { "/etc/machine-id", "/var/lib/dbus/machine-id" });
                    addFile("board", new[] { "/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/board_serial", "/sys/firmware/devicetree/base/serial-number" });
                    addFile("disk", new[] { "/sys/block/nvme0n1/device/serial", "/sys/block/sda/device/wwid", "/sys/block/vda/serial", "/sys/block/mmcblk0/device/cid" });
                    break;
                case Machine.Mac:
                case Machine.Windows:
                    foreach (string name in new[] { "machine", "board", "disk" }) addOne(name, () => machine.Property(name));
                    break;
                default:
                    addFile("machine", new[] { "/etc/hostid" });
                    break;
            }
            addOne("network", () => LowestBurnedIn(machine.Macs));
            return JsonText.Object("name", Text.Head(machine.Hostname, 256), "system", Text.Head(machine.System, 256), "parts", parts);
        }

        private static string FirstOf(IEnumerable<Func<string>> readers)
        {
            foreach (Func<string> read in readers)
            {
                try
                {
                    string value = Text.Trim(read());
                    if (value != "") return value;
                }
                catch (Exception)
                {
                    // What cannot be read is no part.
                }
            }
            return "";
        }

        /// <summary>Whether an id or a serial number, trimmed and in lower case, identifies no machine.</summary>
        public static bool IsPlaceholder(string value) => PlaceholderIds.All.Contains(value) || IsBlank(value);

        /// <summary>All zeros or all <c>f</c>, with any separators.</summary>
        private static bool IsBlank(string value) =>
            value.All(each => each == '0' || !Text.IsWord(each)) || value.All(each => each == 'f' || !Text.IsWord(each));

        /// <summary>Software-assigned addresses change with every container and tunnel.</summary>
        private static string LowestBurnedIn(IEnumerable<string> macs) =>
            macs.Select(Text.Lower).Where(mac => !Machine.IsLocallyAdministered(mac) && !IsBlank(mac)).OrderBy(mac => mac, StringComparer.Ordinal).FirstOrDefault() ?? "";
    }

    // Ed25519.Field.cs

    internal static partial class Ed25519
    {
        /// <summary>
        /// Numbers modulo 2^255 - 19 as ten limbs of 26 and 25 bits in turn, which may be negative. Products have limbs of at most 2^25
        /// (2^24) and a bit; sums of up to four of them may be multiplied without an overflow.
        /// </summary>
        private static class Field
        {
            private static int BitsOf(int limb) => 26 - (limb & 1);

            public static long[] From(BigInteger value) => Decode(ToBytes(value));

            public static long[] Decode(byte[] bytes)
            {
                var limbs = new long[10];
                int at = 0;
                for (int limb = 0; limb < 10; limb++)
                    for (int bit = 0; bit < BitsOf(limb); bit++, at++) limbs[limb] |= (long)((bytes[at >> 3] >> (at & 7)) & 1) << bit;
                return Carried(limbs);
            }

            /// <summary>The one encoding below the prime.</summary>
            public static byte[] Encode(long[] number)
            {
                long[] limbs = Carried((long[])number.Clone());
                long quotient = (19 * limbs[9] + (1L << 24)) >> 25;
                for (int limb = 0; limb < 10; limb++) quotient = (limbs[limb] + quotient) >> BitsOf(limb);
                limbs[0] += 19 * quotient;
                var bytes = new byte[32];
                int at = 0;
                for (int limb = 0; limb < 10; limb++)
                {
                    long carry = limbs[limb] >> BitsOf(limb);
                    if (limb < 9) limbs[limb + 1] += carry;
                    for (int bit = 0; bit < BitsOf(limb); bit++, at++) bytes[at >> 3] |= (byte)(((limbs[limb] >> bit) & 1) << (at & 7));
                }
                return bytes;
            }

            public static bool AreEqual(long[] a, long[] b) => Encode(a).SequenceEqual(Encode(b));

            public static long[] Add(long[] a, long[] b)
            {
                var sum = new long[10];
                for (int limb = 0; limb < 10; limb++) sum[limb] = a[limb] + b[limb];
                return sum;
            }

            public static long[] Subtract(long[] a, long[] b)
            {
                var difference = new long[10];
                for (int limb = 0; limb < 10; limb++) difference[limb] = a[limb] - b[limb];
                return difference;
            }

            public static long[] Square(long[] a) => Multiply(a, a);

            public static long[] Multiply(long[] a, long[] b)
            {
                var product = new long[10];
                for (int i = 0; i < 10; i++)
                {
                    long factor = a[i];
                    long twice = (i & 1) == 1 ? 2 * factor : factor;
                    for (int j = 0; j < 10; j++)
                    {
                        long term = ((j & 1) == 1 ? twice : factor) * b[j];
                        int limb = i + j;
                        if (limb < 10) product[limb] += term;
                        else product[limb - 10] += 19 * term;
                    }
                }
                return Carried(product);
            }

            private static long[] Carried(long[] limbs)
            {
                for (int limb = 0; limb < 10; limb++)
                {
                    int bits = BitsOf(limb);
                    long carry = (limbs[limb] + (1L << (bits - 1))) >> bits;
                    limbs[limb] -= carry << bits;
                    if (limb < 9) limbs[limb + 1] += carry;
                    else limbs[0] += 19 * carry;
                }
                long last = (limbs[0] + (1L << 25)) >> 26;
                limbs[0] -= last << 26;
                limbs[1] += last;
                return limbs;
            }

            private static long[] Squared(long[] a, int times)
            {
                for (; times > 0; times--) a = Square(a);
                return a;
            }

            /// <summary>a^(2^250 - 1), and a^11.</summary>
            private static long[] Power250(long[] a, out long[] power11)
            {
                long[] power9 = Multiply(Squared(a, 3), a);
                power11 = Multiply(power9, Square(a));
                long[] power5 = Multiply(Square(power11), power9);
                long[] power10 = Multiply(Squared(power5, 5), power5);
                long[] power20 = Multiply(Squared(power10, 10), power10);
                long[] power40 = Multiply(Squared(power20, 20), power20);
                long[] power50 = Multiply(Squared(power40, 10), power10);
                long[] power100 = Multiply(Squared(power50, 50), power50);
                long[] power200 = Multiply(Squared(power100, 100), power100);
                return Multiply(Squared(power200, 50), power50);
            }

            /// <summary>a^(p - 2).</summary>
            public static long[] Invert(long[] a)
            {
                long[] power250 = Power250(a, out long[] power11);
                return Multiply(Squared(power250, 5), power11);
            }

            /// <summary>a^((p - 5) / 8).</summary>
            public static long[] PowerForRoot(long[] a) => Multiply(Squared(Power250(a, out _), 2), a);
        }
    }

    // Ed25519.Point.cs

    internal static partial class Ed25519
    {
        /// <summary>A point of the curve in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z.</summary>
        internal sealed class Point
        {
            public static readonly Point Zero = new Point(Field.From(0), Field.From(1), Field.From(1), Field.From(0));

            private readonly long[] _x;
            private readonly long[] _y;
            private readonly long[] _z;
            private readonly long[] _t;

            private Point(long[] x, long[] y, long[] z, long[] t)
            {
                _x = x;
                _y = y;
                _z = z;
                _t = t;
            }

            /// <summary>RFC 8032, section 5.1.3; null if the bytes are not the encoding of a point.</summary>
            public static Point Decode(byte[] bytes)
            {
                if (bytes.Length != 32) return null;
                byte[] withoutSign = (byte[])bytes.Clone();
                withoutSign[31] &= 127;
                if (FromBytes(withoutSign) >= Prime) return null;
                long[] one = Field.From(1);
                long[] y = Field.Decode(withoutSign);
                long[] yy = Field.Square(y);
                long[] u = Field.Subtract(yy, one);
                long[] v = Field.Add(Field.Multiply(yy, D), one);
                long[] v3 = Field.Multiply(Field.Square(v), v);
                long[] uv7 = Field.Multiply(Field.Multiply(Field.Square(v3), v), u);
                long[] x = Field.Multiply(Field.Multiply(u, v3), Field.PowerForRoot(uv7));
                long[] vxx = Field.Multiply(v, Field.Square(x));
                if (!Field.AreEqual(vxx, u))
                {
                    if (!Field.AreEqual(vxx, Field.Subtract(Field.From(0), u))) return null;
                    x = Field.Multiply(x, RootOfMinusOne);
                }
                byte[] encoded = Field.Encode(x);
                int sign = bytes[31] >> 7;
                if (sign == 1 && encoded.All(each => each == 0)) return null;
                if ((encoded[0] & 1) != sign) x = Field.Subtract(Field.From(0), x);
                return new Point(x, y, one, Field.Multiply(x, y));
            }

            public byte[] Encode()
            {
                long[] inverse = Field.Invert(_z);
                byte[] bytes = Field.Encode(Field.Multiply(_y, inverse));
                bytes[31] |= (byte)((Field.Encode(Field.Multiply(_x, inverse))[0] & 1) << 7);
                return bytes;
            }

            public Point Negated() => new Point(Field.Subtract(Field.From(0), _x), _y, _z, Field.Subtract(Field.From(0), _t));

            /// <summary>1, 3, 5 … 15 times this point.</summary>
            public Point[] OddMultiples()
            {
                var multiples = new Point[8];
                Point twice = Doubled();
                multiples[0] = this;
                for (int at = 1; at < multiples.Length; at++) multiples[at] = multiples[at - 1].Plus(twice);
                return multiples;
            }

            public Point Plus(int digit, Point[] multiples) =>
                digit == 0 ? this : digit > 0 ? Plus(multiples[digit / 2]) : Plus(multiples[-digit / 2].Negated());

            /// <summary>RFC 8032, section 5.1.4: holds for all points.</summary>
            private Point Plus(Point other)
            {
                long[] a = Field.Multiply(Field.Subtract(_y, _x), Field.Subtract(other._y, other._x));
                long[] b = Field.Multiply(Field.Add(_y, _x), Field.Add(other._y, other._x));
                long[] c = Field.Multiply(Field.Multiply(_t, TwoD), other._t);
                long[] zz = Field.Multiply(_z, other._z);
                return Of(Field.Subtract(b, a), Field.Subtract(Field.Add(zz, zz), c), Field.Add(Field.Add(zz, zz), c), Field.Add(b, a));
            }

            public Point Doubled()
            {
                long[] a = Field.Square(_x);
                long[] b = Field.Square(_y);
                long[] zz = Field.Square(_z);
                long[] h = Field.Add(a, b);
                long[] e = Field.Subtract(h, Field.Square(Field.Add(_x, _y)));
                long[] g = Field.Subtract(a, b);
                return Of(e, Field.Add(Field.Add(zz, zz), g), g, h);
            }

            private static Point Of(long[] e, long[] f, long[] g, long[] h) =>
                new Point(Field.Multiply(e, f), Field.Multiply(g, h), Field.Multiply(f, g), Field.Multiply(e, h));
        }
    }

    // Ed25519.cs

    /// <summary>
    /// Verifies only, so that nothing here handles a secret and no time needs to be constant. Strict: S below the order of the group,
    /// points in their one encoding, and R compared as bytes.
    /// </summary>
    internal static partial class Ed25519
    {
        /// <summary>The order of the base point.</summary>
        private static readonly BigInteger Order = BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493", CultureInfo.InvariantCulture);
        private static readonly BigInteger Prime = BigInteger.Pow(2, 255) - 19;
        private static readonly long[] D = Field.From(Mod(-121665 * BigInteger.ModPow(121666, Prime - 2, Prime)));
        private static readonly long[] TwoD = Field.Add(D, D);
        private static readonly long[] RootOfMinusOne = Field.From(BigInteger.ModPow(2, (Prime - 1) / 4, Prime));
        private static readonly Point[] BaseMultiples = Point.Decode(ToBytes(Mod(4 * BigInteger.ModPow(5, Prime - 2, Prime)))).OddMultiples();

        public static bool Verify(byte[] publicKey, Point[] negatedKey, byte[] message, byte[] signature)
        {
            if (negatedKey == null || signature.Length != 64) return false;
            byte[] s = signature.Skip(32).ToArray();
            if (FromBytes(s) >= Order) return false;
            byte[] hash;
            using (SHA512 sha = SHA512.Create()) hash = sha.ComputeHash(signature.Take(32).Concat(publicKey).Concat(message).ToArray());
            byte[] k = ToBytes(FromBytes(hash) % Order);
            byte[] r = Sum(s, BaseMultiples, k, negatedKey).Encode();
            return r.SequenceEqual(signature.Take(32));
        }

        /// <summary>a A + b B, by signed windows of five bits.</summary>
        private static Point Sum(byte[] a, Point[] multiplesOfA, byte[] b, Point[] multiplesOfB)
        {
            int[] digitsOfA = Windows(a);
            int[] digitsOfB = Windows(b);
            Point sum = Point.Zero;
            for (int at = digitsOfA.Length - 1; at >= 0; at--)
            {
                sum = sum.Doubled();
                sum = sum.Plus(digitsOfA[at], multiplesOfA).Plus(digitsOfB[at], multiplesOfB);
            }
            return sum;
        }

        /// <summary>Digits of a scalar below 2^253, each zero or odd from -15 to 15, whose sum with weights 2^i is the scalar.</summary>
        private static int[] Windows(byte[] scalar)
        {
            var bits = new int[262];
            for (int at = 0; at < 256; at++) bits[at] = (scalar[at >> 3] >> (at & 7)) & 1;
            var digits = new int[257];
            for (int at = 0; at < digits.Length; at++)
            {
                if (bits[at] == 0) continue;
                int digit = 0;
                for (int bit = 4; bit >= 0; bit--)
                {
                    digit = 2 * digit + bits[at + bit];
                    bits[at + bit] = 0;
                }
                if (digit > 15)
                {
                    digit -= 32;
                    int carry = at + 5;
                    while (bits[carry] == 1) bits[carry++] = 0;
                    bits[carry] = 1;
                }
                digits[at] = digit;
            }
            return digits;
        }

        private static BigInteger Mod(BigInteger value) => ((value % Prime) + Prime) % Prime;

        /// <summary>Little-endian, without a sign.</summary>
        private static BigInteger FromBytes(byte[] bytes) => new BigInteger(bytes.Concat(new byte[] { 0 }).ToArray());

        private static byte[] ToBytes(BigInteger value)
        {
            byte[] bytes = value.ToByteArray();
            Array.Resize(ref bytes, 32);
            return bytes;
        }
    }

    // FileStorage.Unix.cs

    internal sealed partial class FileStorage
    {
        /// <summary>.NET Standard 2.0 knows no permissions, and cannot replace a file on all systems.</summary>
        private static class Unix
        {
            [DllImport("libc", EntryPoint = "mkdir")]
            private static extern int MakeFolder(string path, uint mode);
            [DllImport("libc", EntryPoint = "creat")]
            private static extern int Create(string path, uint mode);
            [DllImport("libc", EntryPoint = "close")]
            private static extern int Close(int file);
            [DllImport("libc", EntryPoint = "rename")]
            private static extern int Rename(string from, string to);
            [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
            private static extern int Signal(int program, int signal);
            [DllImport("libc", EntryPoint = "getpid")]
            private static extern int ProgramNumber();
            [DllImport("libc", EntryPoint = "readlink")]
            private static extern IntPtr ReadLink(string path, byte[] target, IntPtr size);

            [DllImport("libc", EntryPoint = "link", SetLastError = true)]
            private static extern int Link(string from, string to);

            private const int NoSuchProgram = 3;
            private const int LongestHolder = 4096;
            private const int Exists = 17;

            /// <summary>Creates a file together with its text; false if it exists, null where that is impossible.</summary>
            public static bool? TryCreateWhole(string path, string text)
            {
                if (File.Exists(path)) return false;
                // Written after it was created, the lock of a program that is killed in between would name no holder.
                string draft = path + "." + Guid.NewGuid().ToString("D", CultureInfo.InvariantCulture);
                try
                {
                    if (!TryCreateFile(draft)) return null;
                    File.WriteAllText(draft, text);
                    if (Link(draft, path) == 0) return true;
                    return Marshal.GetLastWin32Error() == Exists ? false : (bool?)null;
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || IsMissing(error))
                {
                    return null;
                }
                finally
                {
                    Remove(draft);
                }
            }

            public static int OwnNumber()
            {
                try
                {
                    return Machine.ThisPlatform == Machine.Linux ? ProgramNumber() : 0;
                }
                catch (Exception error) when (IsMissing(error))
                {
                    return 0;
                }
            }

            /// <summary>False wherever that cannot be known: on another machine, in another container, of an earlier version.</summary>
            public static bool IsOfEndedProgram(string path)
            {
                try
                {
                    string own = DescribeProgram(OwnNumber());
                    // Something else may be at its place: reading a pipe, whose length is 0, waits forever.
                    long length = own == null ? 0 : new FileInfo(path).Length;
                    string holder = length < 1 || length > LongestHolder ? "" : File.ReadAllText(path, Encoding.UTF8);
                    Match found = Regex.Match(holder, "\\A([1-9][0-9]{0,8}) [0-9]+ [^ \n]+\n\\z", RegexOptions.CultureInvariant);
                    if (!found.Success || PlaceOf(own) != PlaceOf(holder)) return false;
                    int number = int.Parse(found.Groups[1].Value, CultureInfo.InvariantCulture);
                    if (Signal(number, 0) != 0 && Marshal.GetLastWin32Error() == NoSuchProgram) return true;
                    // The system gives the number of an ended program to a new one.
                    string running = DescribeProgram(number);
                    return running != null && running != holder;
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || IsMissing(error))
                {
                    return false;
                }
            }

            private static string PlaceOf(string program) => program.Substring(program.LastIndexOf(' '));

            /// <summary>Number and start of a program, and where they are its own; null on systems other than Linux.</summary>
            public static string DescribeProgram(int number)
            {
                if (number == 0) return null;
                try
                {
                    string status = File.ReadAllText("/proc/" + Text.Of(number) + "/stat", Encoding.UTF8);
                    // The second field is the name in parentheses, which may contain spaces.
                    string[] fields = status.Substring(status.LastIndexOf(')') + 1).Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
                    string boot = File.ReadAllText("/proc/sys/kernel/random/boot_id", Encoding.UTF8).Trim();
                    string numbers = TargetOf("/proc/self/ns/pid");
                    if (numbers == null || fields.Length < 20 || fields[19].Any(each => each < '0' || each > '9')) return null;
                    return Text.Of(number) + " " + fields[19] + " " + boot + "/" + numbers + "/" + (TargetOf("/proc/self/ns/time") ?? "-") + "\n";
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || IsMissing(error))
                {
                    return null;
                }
            }

            public static string TargetOf(string path)
            {
                var target = new byte[256];
                int size = (int)ReadLink(path, target, new IntPtr(target.Length));
                return size > 0 ? Encoding.ASCII.GetString(target, 0, size) : null;
            }

            public static void CreateFolder(string folder)
            {
                if (folder == null || Directory.Exists(folder)) return;
                CreateFolder(Path.GetDirectoryName(folder));
                try
                {
                    MakeFolder(folder, 0x1c0);
                }
                catch (Exception error) when (IsMissing(error))
                {
                }
                Directory.CreateDirectory(folder);
            }

            public static bool TryCreateFile(string path)
            {
                try
                {
                    int file = Create(path, 0x180);
                    if (file >= 0) Close(file);
                    return file >= 0;
                }
                catch (Exception error) when (IsMissing(error))
                {
                    return false;
                }
            }

            public static bool TryReplace(string from, string to)
            {
                try
                {
                    return Rename(from, to) == 0;
                }
                catch (Exception error) when (IsMissing(error))
                {
                    if (File.Exists(to)) File.Replace(from, to, null);
                    else File.Move(from, to);
                    return true;
                }
            }

            private static bool IsMissing(Exception error) => error is DllNotFoundException || error is EntryPointNotFoundException;
        }
    }

    // FileStorage.Windows.cs

    internal sealed partial class FileStorage
    {
        private static class Win
        {
            [DllImport("kernel32.dll", EntryPoint = "MoveFileExW", CharSet = CharSet.Unicode, SetLastError = true)]
            private static extern int MoveFile(string from, string to, int flags);

            /// <summary>1 replaces an existing file.</summary>
            public static bool TryReplace(string from, string to) => MoveFile(from, to, 1) != 0;
        }
    }

    // FileStorage.cs

    /// <summary>A file that the user alone can read, replaced in one step.</summary>
    internal sealed partial class FileStorage : ILockedKeywardStorage
    {
        /// <summary>A larger file is not one of an SDK.</summary>
        private const int MaxBytes = 4 * 1024 * 1024;
        /// <summary>A change takes milliseconds, so an older lock is that of a program that was ended.</summary>
        private static readonly TimeSpan StaleLock = TimeSpan.FromSeconds(10);
        private const int LongestWaitMs = 2000;
        private const int PollMs = 20;

        private readonly string _path;

        public FileStorage(string path) { _path = path; }

        /// <summary>The file of an app in the user's data folder.</summary>
        public static FileStorage OfApp(string appId)
        {
            string name = new string(appId.Select(each => Text.IsWord(each) ? each : '_').ToArray());
            return new FileStorage(Path.Combine(DataFolder(), "keyward", name + ".json"));
        }

        private static string DataFolder()
        {
            string platform = Machine.ThisPlatform;
            if (platform == Machine.Windows) return Variable("LOCALAPPDATA") ?? Path.Combine(Home(), "AppData", "Local");
            if (platform == Machine.Mac) return Path.Combine(Home(), "Library", "Application Support");
            return Variable("XDG_STATE_HOME") ?? Path.Combine(Home(), ".local", "state");
        }

        /// <summary>An empty variable counts as unset; a relative path would be another file in every folder.</summary>
        private static string Variable(string name)
        {
            string value = Environment.GetEnvironmentVariable(name);
            return string.IsNullOrEmpty(value) ? null : value;
        }

        private static string Home()
        {
            string home = Machine.ThisPlatform == Machine.Windows ? null : Environment.GetEnvironmentVariable("HOME");
            return string.IsNullOrEmpty(home) ? Environment.GetFolderPath(Environment.SpecialFolder.UserProfile) : home;
        }

        public async Task<string> ReadAsync()
        {
            try
            {
                using (var file = new FileStream(_path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete))
                {
                    if (file.Length > MaxBytes) return "";
                    using (var reader = new StreamReader(file, new UTF8Encoding(false), false)) return await reader.ReadToEndAsync().ConfigureAwait(false);
                }
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return null;
            }
        }

        /// <summary>Creates the lock file; returns null where that is impossible.</summary>
        public async Task<IDisposable> LockAsync()
        {
            string path = Path.GetFullPath(_path) + ".lock";
            long endsAt = Clock.NowMs + LongestWaitMs;
            CreateFolder(Path.GetDirectoryName(path));
            string holder = Unix.DescribeProgram(Unix.OwnNumber()) ?? "";
            while (Clock.NowMs < endsAt)
            {
                bool? isOurs = TryCreate(path, holder);
                if (isOurs == true) return new FileLock { Path = path };
                if (isOurs == null) return null;
                if (!RemoveStale(path)) await Task.Delay(PollMs).ConfigureAwait(false);
            }
            return null;
        }

        /// <summary>Whether it was created; null where that is impossible. A lock without its text becomes stale by its age.</summary>
        private static bool? TryCreate(string path, string text)
        {
            bool? isWhole = text == "" ? null : Unix.TryCreateWhole(path, text);
            if (isWhole != null) return isWhole;
            try
            {
                using (var file = new FileStream(path, FileMode.CreateNew, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete))
                {
                    byte[] bytes = Text.ToUtf8(text);
                    file.Write(bytes, 0, bytes.Length);
                }
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // Windows reports a file that is being deleted as one that may not be opened.
                if (!File.Exists(path) && Machine.ThisPlatform != Machine.Windows && !IsThereNow(error)) return null;
                return false;
            }
        }

        /// <summary>Removes the lock of a program that was ended; returns whether it did.</summary>
        private static bool RemoveStale(string path)
        {
            if (!IsStale(path)) return false;
            // One program at a time, and each looks again: otherwise the second one would remove the lock that the first one took.
            string claim = path + ".claim";
            if (TryCreate(claim, "") != true)
            {
                if (IsOld(claim)) Remove(claim);
                return false;
            }
            try
            {
                return IsStale(path) && Remove(path);
            }
            finally
            {
                Remove(claim);
            }
        }

        private static bool IsStale(string path) => Unix.IsOfEndedProgram(path) || IsOld(path);

        private static bool IsOld(string path) => File.Exists(path) && (DateTime.UtcNow - File.GetLastWriteTimeUtc(path)).Duration() > StaleLock;

        /// <summary>Whether another program may have removed its lock since; all other errors stay.</summary>
        private static bool IsThereNow(Exception error) =>
            error is IOException && !(error is DirectoryNotFoundException) && !(error is PathTooLongException) && !(error is FileNotFoundException);

        private sealed class FileLock : IDisposable
        {
            public string Path;

            public void Dispose() => Remove(Path);
        }

        private static bool Remove(string path)
        {
            try
            {
                File.Delete(path);
                return true;
            }
            catch (Exception)
            {
                // It becomes stale.
                return false;
            }
        }

        private static void CreateFolder(string folder)
        {
            if (Machine.ThisPlatform == Machine.Windows) Directory.CreateDirectory(folder);
            else Unix.CreateFolder(folder);
        }

        public async Task WriteAsync(string text)
        {
            string path = Path.GetFullPath(_path);
            string draft = path + "." + Guid.NewGuid().ToString("D", CultureInfo.InvariantCulture) + ".tmp";
            bool isWindows = Machine.ThisPlatform == Machine.Windows;
            try
            {
                CreateFolder(Path.GetDirectoryName(path));
                bool isThere = !isWindows && Unix.TryCreateFile(draft);
                using (var file = new FileStream(draft, isThere ? FileMode.Open : FileMode.CreateNew, FileAccess.Write, FileShare.None))
                {
                    byte[] bytes = Text.ToUtf8(text);
                    await file.WriteAsync(bytes, 0, bytes.Length).ConfigureAwait(false);
                    await file.FlushAsync().ConfigureAwait(false);
                }
                for (int attempt = 1; !(isWindows ? Win.TryReplace(draft, path) : Unix.TryReplace(draft, path)); attempt++)
                {
                    // Another program may be reading the file on Windows.
                    if (!isWindows || attempt == 5) throw new IOException("The file could not be replaced");
                    await Task.Delay(20 * attempt).ConfigureAwait(false);
                }
            }
            catch (Exception)
            {
                Remove(draft);
                throw;
            }
        }

        /// <summary>Null where it cannot be read.</summary>
        internal static string LinkTarget(string path)
        {
            try
            {
                return Unix.TargetOf(path);
            }
            catch (Exception error) when (error is DllNotFoundException || error is EntryPointNotFoundException)
            {
                return null;
            }
        }
    }

    // Http.cs

    /// <summary>Sends one request and reads the whole answer, whatever its status. Redirects are not followed: the signature covers the path.</summary>
    internal sealed class Http : IDisposable
    {
        private const int MaxConnections = 32;
        private static readonly string[] Used = { "signature", "signature-input", "content-digest", "content-type", "retry-after" };

        private readonly HttpClient _client;
        /// <summary>
        /// For calls that must not be repeated: some platforms send a request again by themselves if a connection that they kept turns
        /// out to be closed, and this client keeps none.
        /// </summary>
        private readonly HttpClient _once;
        private readonly ProxyAddress _proxy;
        private readonly bool _isOwnHandler;

        public Http(CheckedOptions options)
        {
            _proxy = options.Proxy;
            _isOwnHandler = options.Handler == null;
            _client = ToClient(options);
            _once = ToClient(options);
        }

        private static HttpClient ToClient(CheckedOptions options)
        {
            bool isTunnel = options.Proxy != null && options.Origin.Scheme == "https";
            HttpMessageHandler own = isTunnel ? new TunnelHandler(options.Proxy) : (HttpMessageHandler)ToHandler(options.Proxy);
            var client = options.Handler == null ? new HttpClient(own) : new HttpClient(options.Handler, false);
            client.Timeout = Timeout.InfiniteTimeSpan;
            return client;
        }

        private static HttpClientHandler ToHandler(ProxyAddress proxy)
        {
            // The digest covers the bytes on the wire, and no cookie of a stranger is kept.
            var handler = new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false, AutomaticDecompression = DecompressionMethods.None };
            // .NET Framework has two connections by default, for which further calls would wait.
            handler.MaxConnectionsPerServer = MaxConnections;
            if (proxy == null) return handler;
            handler.UseProxy = true;
            handler.Proxy = proxy;
            return handler;
        }

        public void Dispose()
        {
            _client.Dispose();
            _once.Dispose();
        }

        public async Task<Answer> ExchangeAsync(SentRequest sent, int timeoutMs, CancellationToken cancellationToken)
        {
            var abort = new CancellationTokenSource();
            var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            // Some platforms resolve names and connect before they return.
            Task<Answer> receiving = Task.Run(() => ReceiveAsync(sent, abort.Token));
            Task timer = Task.Delay(timeoutMs, stop.Token);
            bool isDone = await Task.WhenAny(receiving, timer).ConfigureAwait(false) == receiving;
            if (isDone)
            {
                stop.Cancel();
                stop.Dispose();
                return await receiving.ConfigureAwait(false);
            }
            stop.Dispose();
            Waiting.Ignore(receiving);
            // On the pool, because a handler may block while it stops.
            Waiting.Ignore(Task.Run(() => abort.Cancel()));
            cancellationToken.ThrowIfCancellationRequested();
            throw new KeywardNetworkException("timed_out", "No answer from " + sent.Url + " in time", true);
        }

        private async Task<Answer> ReceiveAsync(SentRequest sent, CancellationToken abort)
        {
            try
            {
                using (HttpRequestMessage request = ToMessage(sent))
                using (HttpResponseMessage response = await (sent.Repeatable ? _client : _once)
                    .SendAsync(request, HttpCompletionOption.ResponseHeadersRead, abort).ConfigureAwait(false))
                using (abort.Register(response.Dispose))
                {
                    int status = (int)response.StatusCode;
                    if (status == 407 && _isOwnHandler) throw new KeywardNetworkException("unreachable", "The proxy answered 407", false, 407);
                    byte[] body = await ReadAsync(response, abort).ConfigureAwait(false);
                    return new Answer { Status = status, Headers = Used.ToDictionary(name => name, name => Joined(response, name)), Body = body };
                }
            }
            catch (Exception error) when (!(error is KeywardException))
            {
                throw ToNetworkException(error, sent.Url);
            }
        }

        private HttpRequestMessage ToMessage(SentRequest sent)
        {
            var request = new HttpRequestMessage(new HttpMethod(sent.Method), sent.Url) { Version = HttpVersion.Version11 };
            request.Headers.ExpectContinue = false;
            if (!sent.Repeatable) request.Headers.ConnectionClose = true;
            Add(request.Headers, "Accept", "application/json");
            Add(request.Headers, "Accept-Encoding", "identity");
            Add(request.Headers, "User-Agent", SdkVersion.Sdk);
            Add(request.Headers, "Keyward-Nonce", sent.Nonce);
            Add(request.Headers, "Keyward-Keys", sent.KeyIds);
            if (sent.Authorization != null)
            {
                Add(request.Headers, "Authorization", sent.Authorization);
                Add(request.Headers, "Keyward-App", sent.AppId);
            }
            // Through a tunnel this header would reach the server.
            if (_proxy != null && _proxy.HasCredentials && sent.Url.Scheme == "http")
                Add(request.Headers, "Proxy-Authorization", _proxy.Authorization);
            if (sent.Body != null)
            {
                request.Content = new ByteArrayContent(sent.Body);
                request.Content.Headers.TryAddWithoutValidation("Content-Type", "application/json");
                Add(request.Headers, "Content-Digest", sent.ContentDigest);
            }
            return request;
        }

        private static void Add(System.Net.Http.Headers.HttpRequestHeaders headers, string name, string value) =>
            headers.TryAddWithoutValidation(name, value);

        private static string Joined(HttpResponseMessage response, string name)
        {
            IEnumerable<string> values;
            if (response.Headers.TryGetValues(name, out values)) return string.Join(", ", values);
            return response.Content != null && response.Content.Headers.TryGetValues(name, out values) ? string.Join(", ", values) : "";
        }

        private static async Task<byte[]> ReadAsync(HttpResponseMessage response, CancellationToken abort)
        {
            if (response.Content == null) return new byte[0];
            using (Stream stream = await response.Content.ReadAsStreamAsync().ConfigureAwait(false))
            {
                byte[] body = await ReadAsync(stream, abort).ConfigureAwait(false);
                // Some platforms end the stream without an error if the connection breaks.
                if (body.Length <= Verification.MaxAnswerBytes && body.Length < (response.Content.Headers.ContentLength ?? 0)) throw new EndOfStreamException("The connection broke");
                return body;
            }
        }

        /// <summary>Stops somewhere beyond the length of a genuine answer.</summary>
        internal static async Task<byte[]> ReadAsync(Stream stream, CancellationToken abort)
        {
            var body = new MemoryStream();
            var chunk = new byte[16 * 1024];
            for (;;)
            {
                int length = await stream.ReadAsync(chunk, 0, chunk.Length, abort).ConfigureAwait(false);
                if (length <= 0) return body.ToArray();
                body.Write(chunk, 0, length);
                if (body.Length > Verification.MaxAnswerBytes) return body.ToArray();
            }
        }

        private static KeywardNetworkException ToNetworkException(Exception error, Uri url)
        {
            KeywardNetworkException rejected = Certificates.ToError(error, url);
            if (rejected != null) return rejected;
            return IsNeverSent(error)
                ? new KeywardNetworkException("unreachable", "Cannot reach " + url + " (" + Deepest(error) + ")", false, cause: error)
                : new KeywardNetworkException("connection_lost", "The connection to " + url + " broke (" + Deepest(error) + ")", true, cause: error);
        }

        private static string Deepest(Exception error)
        {
            while (error.InnerException != null) error = error.InnerException;
            return error.Message;
        }

        /// <summary>Whether the error happened before a connection was established, so that the server cannot have received the request.</summary>
        private static bool IsNeverSent(Exception error)
        {
            for (Exception each = error; each != null; each = each.InnerException)
            {
                if (each is WebException web)
                {
                    if (web.Status == WebExceptionStatus.ConnectFailure || web.Status == WebExceptionStatus.NameResolutionFailure ||
                        web.Status == WebExceptionStatus.ProxyNameResolutionFailure || web.Status == WebExceptionStatus.TrustFailure ||
                        web.Status == WebExceptionStatus.SecureChannelFailure) return true;
                }
                if (each is AuthenticationException) return true;
                if (each is SocketException socket && IsNeverSent(socket.SocketErrorCode)) return true;
            }
            return false;
        }

        private static bool IsNeverSent(SocketError code)
        {
            switch (code)
            {
                case SocketError.ConnectionRefused:
                case SocketError.HostNotFound:
                case SocketError.TryAgain:
                case SocketError.NoRecovery:
                case SocketError.NoData:
                case SocketError.HostUnreachable:
                case SocketError.NetworkUnreachable:
                case SocketError.AddressNotAvailable:
                    return true;
                default:
                    return false;
            }
        }
    }

    // JsonText.Parser.cs

    internal sealed partial class JsonText
    {
        /// <summary>Deeper texts are rejected, so that none of them ends the program with a stack overflow.</summary>
        private const int MaxDepth = 64;

        private readonly string _text;
        private int _at;

        private JsonText(string text) { _text = text; }

        public static bool TryParse(string text, out object value)
        {
            value = null;
            if (text == null) return false;
            try
            {
                var reader = new JsonText(text);
                value = reader.Value(0);
                reader.SkipSpace();
                if (reader._at == text.Length) return true;
            }
            catch (FormatException)
            {
            }
            value = null;
            return false;
        }

        private char Next => _at < _text.Length ? _text[_at] : '\0';

        private FormatException Fail() => new FormatException("Not JSON at " + Internal.Text.Of(_at));

        private void SkipSpace()
        {
            while (_at < _text.Length && (_text[_at] == ' ' || _text[_at] == '\n' || _text[_at] == '\r' || _text[_at] == '\t')) _at++;
        }

        private object Value(int depth)
        {
            SkipSpace();
            switch (Next)
            {
                case '{': return ObjectValue(depth + 1);
                case '[': return ListValue(depth + 1);
                case '"': return StringValue();
                case 't': return Word("true", true);
                case 'f': return Word("false", false);
                case 'n': return Word("null", null);
                default: return Number();
            }
        }

        private object Word(string word, object value)
        {
            if (string.CompareOrdinal(_text, _at, word, 0, word.Length) != 0) throw Fail();
            _at += word.Length;
            return value;
        }

        private Dictionary<string, object> ObjectValue(int depth)
        {
            if (depth > MaxDepth) throw Fail();
            var members = Object();
            _at++;
            SkipSpace();
            if (Next == '}')
            {
                _at++;
                return members;
            }
            for (;;)
            {
                SkipSpace();
                if (Next != '"') throw Fail();
                string name = StringValue();
                SkipSpace();
                if (Next != ':') throw Fail();
                _at++;
                members[name] = Value(depth);
                if (IsLast('}')) return members;
            }
        }

        private List<object> ListValue(int depth)
        {
            if (depth > MaxDepth) throw Fail();
            var items = new List<object>();
            _at++;
            SkipSpace();
            if (Next == ']')
            {
                _at++;
                return items;
            }
            for (;;)
            {
                items.Add(Value(depth));
                if (IsLast(']')) return items;
            }
        }

        private bool IsLast(char end)
        {
            SkipSpace();
            char found = Next;
            if (found != end && found != ',') throw Fail();
            _at++;
            return found == end;
        }

        private string StringValue()
        {
            var value = new StringBuilder();
            for (_at++; _at < _text.Length; _at++)
            {
                char each = _text[_at];
                if (each == '"')
                {
                    _at++;
                    return value.ToString();
                }
                if (each < ' ') break;
                if (each == '\\')
                {
                    _at++;
                    int at = "\"\\/bfnrtu".IndexOf(Next);
                    if (_at >= _text.Length || at < 0) break;
                    each = at == 8 ? Escaped() : "\"\\/\b\f\n\r\t"[at];
                }
                value.Append(each);
            }
            throw Fail();
        }

        /// <summary>The four digits after <c>\u</c>; half of a pair is a character like others.</summary>
        private char Escaped()
        {
            if (_at + 4 >= _text.Length) throw Fail();
            int code = 0;
            for (int i = 0; i < 4; i++)
            {
                int digit = "0123456789abcdef".IndexOf(char.ToLowerInvariant(_text[++_at]));
                if (digit < 0) throw Fail();
                code = code * 16 + digit;
            }
            return (char)code;
        }

        private object Number()
        {
            int start = _at;
            if (Next == '-') _at++;
            int digits = _at;
            SkipDigits();
            if (_text[digits] == '0' && _at - digits > 1) throw Fail();
            if (Next == '.')
            {
                _at++;
                SkipDigits();
            }
            if (Next == 'e' || Next == 'E')
            {
                _at++;
                if (Next == '+' || Next == '-') _at++;
                SkipDigits();
            }
            string number = _text.Substring(start, _at - start);
            try
            {
                return double.Parse(number, NumberStyles.Float, CultureInfo.InvariantCulture);
            }
            catch (OverflowException)
            {
                // Newer frameworks return infinity.
                return number[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
            }
        }

        private void SkipDigits()
        {
            int start = _at;
            while (Next >= '0' && Next <= '9') _at++;
            if (_at == start) throw Fail();
        }
    }

    // JsonText.Writer.cs

    internal sealed partial class JsonText
    {
        public static string Write(object value)
        {
            var text = new StringBuilder();
            Write(text, value, 0);
            return text.ToString();
        }

        private static void Write(StringBuilder text, object value, int depth)
        {
            // Everything that is written was read, or has a fixed form.
            if (depth > 2 * MaxDepth) throw new InvalidOperationException("The object is too deep");
            if (value == null) text.Append("null");
            else if (value is bool flag) text.Append(flag ? "true" : "false");
            else if (value is double number) text.Append(Write(number));
            else if (value is string content) Quote(text, content);
            else if (value is Dictionary<string, object> members)
            {
                string separator = "{";
                foreach (KeyValuePair<string, object> each in members)
                {
                    text.Append(separator);
                    Quote(text, each.Key);
                    text.Append(':');
                    Write(text, each.Value, depth + 1);
                    separator = ",";
                }
                text.Append(members.Count == 0 ? "{}" : "}");
            }
            else if (value is List<object> items)
            {
                string separator = "[";
                foreach (object each in items)
                {
                    text.Append(separator);
                    Write(text, each, depth + 1);
                    separator = ",";
                }
                text.Append(items.Count == 0 ? "[]" : "]");
            }
            else throw new InvalidOperationException("Not JSON: " + value.GetType());
        }

        private static string Write(double number)
        {
            if (double.IsNaN(number) || double.IsInfinity(number)) return "null";
            if (Math.Floor(number) == number && Math.Abs(number) <= 9007199254740991) return ((long)number).ToString(CultureInfo.InvariantCulture);
            return number.ToString("R", CultureInfo.InvariantCulture);
        }

        private static void Quote(StringBuilder text, string content)
        {
            text.Append('"');
            for (int at = 0; at < content.Length; at++)
            {
                char each = content[at];
                int escape = "\"\\\b\f\n\r\t".IndexOf(each);
                bool isPair = char.IsHighSurrogate(each) && at + 1 < content.Length && char.IsLowSurrogate(content[at + 1]);
                if (escape >= 0) text.Append('\\').Append("\"\\bfnrt"[escape]);
                else if (isPair) text.Append(each).Append(content[++at]);
                else if (each < ' ' || char.IsSurrogate(each)) text.Append("\\u").Append(((int)each).ToString("x4", CultureInfo.InvariantCulture));
                else text.Append(each);
            }
            text.Append('"');
        }
    }

    // JsonText.cs

    /// <summary>
    /// JSON as <c>JSON.parse</c> and <c>JSON.stringify</c> have it: texts, double, bool, null, <see cref="List{T}"/> and
    /// <see cref="Dictionary{TKey,TValue}"/>. Of a repeated key the last one counts.
    /// </summary>
    internal sealed partial class JsonText
    {
        /// <summary>An object of names and values; members that are null are left out.</summary>
        public static Dictionary<string, object> Object(params object[] members)
        {
            var json = new Dictionary<string, object>(StringComparer.Ordinal);
            for (int at = 0; at < members.Length; at += 2)
                if (members[at + 1] != null) json[(string)members[at]] = members[at + 1];
            return json;
        }

        public static string Text(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) ? value as string : null;

        public static bool Flag(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && true.Equals(value);

        public static int Integer(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is double number && Math.Abs(number) <= int.MaxValue ? (int)number : 0;

        /// <summary>An empty object if there is none.</summary>
        public static Dictionary<string, object> Child(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is Dictionary<string, object> child ? child : Object();

        public static IReadOnlyList<string> TextList(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is List<object> list ? list.OfType<string>().ToList() : new List<string>();

        public static IReadOnlyDictionary<string, string> Texts(Dictionary<string, object> json, string name) =>
            Child(json, name).Where(each => each.Value is string).ToDictionary(each => each.Key, each => (string)each.Value, StringComparer.Ordinal);

        /// <summary>
        /// A time of the server; null if it has none. A text that is no time counts as long past, so that nothing broken looks like a
        /// license that never ends.
        /// </summary>
        public static DateTimeOffset? Time(Dictionary<string, object> json, string name)
        {
            if (!json.TryGetValue(name, out object value) || value == null) return null;
            return value is string text && TryTime(text, out DateTimeOffset time) ? time : DateTimeOffset.MinValue;
        }

        public static bool TryTime(string text, out DateTimeOffset time)
        {
            // JavaScript writes years after 9999 so.
            if (text.StartsWith("+", StringComparison.Ordinal))
            {
                time = DateTimeOffset.MaxValue;
                return true;
            }
            const DateTimeStyles styles = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
            return DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, styles, out time);
        }
    }

    // KeyRing.cs

    /// <summary>The pinned keys, by key id.</summary>
    internal sealed class KeyRing
    {
        private readonly Dictionary<string, VerifyKey> _keys = new Dictionary<string, VerifyKey>(StringComparer.Ordinal);

        /// <summary>In the order of the set.</summary>
        public readonly List<string> Ids = new List<string>();

        public VerifyKey Find(string id) => _keys.TryGetValue(id, out VerifyKey key) ? key : null;

        /// <summary>
        /// Reads the Ed25519 signing keys of a JWK set and ignores keys of other kinds, as RFC 7517 requires. Throws if no key is left,
        /// or one is malformed or private.
        /// </summary>
        public static KeyRing From(PublicKeySet set)
        {
            var ring = new KeyRing();
            foreach (object each in ToList(set?.Json))
            {
                if (!(each is Dictionary<string, object> jwk)) throw Wrong("a key is not an object");
                if (jwk.ContainsKey("d")) throw Wrong("a private key must never be part of a program");
                string use = jwk.TryGetValue("use", out object named) && named != null ? named as string : "sig";
                if (JsonText.Text(jwk, "kty") != "OKP" || JsonText.Text(jwk, "crv") != "Ed25519" || use != "sig") continue;
                if (JsonText.Text(jwk, "status") == "revoked") continue;
                string kid = JsonText.Text(jwk, "kid");
                // A comma would separate two ids in Keyward-Keys.
                if (string.IsNullOrEmpty(kid) || kid.Length > 256 || kid.Any(letter => letter < ' ' || letter > '~' || letter == ',')) throw Wrong("a key has no kid");
                if (ring._keys.ContainsKey(kid)) throw Wrong("kid " + kid + " is there twice");
                byte[] x = Bytes.FromBase64Url(JsonText.Text(jwk, "x"));
                if (x == null || x.Length != 32) throw Wrong("the key " + kid + " is broken");
                ring._keys.Add(kid, new VerifyKey(x));
                ring.Ids.Add(kid);
            }
            if (ring.Ids.Count == 0) throw Wrong("expected at least one Ed25519 key");
            return ring;
        }

        private static List<object> ToList(object json)
        {
            if (json is List<object> list) return list;
            if (!(json is Dictionary<string, object> set)) throw Wrong("expected a JWK set");
            if (!set.TryGetValue("keys", out object keys)) return new List<object> { set };
            return keys as List<object> ?? throw Wrong("expected an array of keys");
        }

        private static KeywardUsageException Wrong(string message) => CheckedOptions.Wrong("PublicKeys: " + message);
    }

    // LeaseEndings.cs

    // Written by packages/sdk/generate.ts from the contract.
    internal static class LeaseEndings
    {
        /// <summary>Refusals of the user, the key or the device; mistyped input is not one.</summary>
        public static readonly HashSet<string> Codes = new HashSet<string>(StringComparer.Ordinal)
        {
            LicenseState.UserBanned,
            LicenseState.KeyBanned,
            LicenseState.PausedSub,
            LicenseState.NoActiveSubs,
            LicenseState.UpdatesEnded,
            LicenseState.HwidBlacklisted,
            LicenseState.HwidMismatch,
            LicenseState.NotActivated,
            LicenseState.TrialUsed,
        };
    }

    // MacRegistry.cs

    /// <summary>The registry of macOS, by the system's functions: Unity starts no programs such as <c>ioreg</c>.</summary>
    internal static class MacRegistry
    {
        private const string IoKit = "/System/Library/Frameworks/IOKit.framework/IOKit";
        private const string CoreFoundation = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
        private const uint Utf8 = 0x08000100;

        [DllImport(IoKit, EntryPoint = "IOServiceMatching")]
        private static extern IntPtr MatchClass(string name);
        [DllImport(IoKit, EntryPoint = "IOServiceGetMatchingServices")]
        private static extern int FindServices(uint port, IntPtr matching, out uint services);
        [DllImport(IoKit, EntryPoint = "IOIteratorNext")]
        private static extern uint Next(uint services);
        [DllImport(IoKit, EntryPoint = "IORegistryEntryCreateCFProperty")]
        private static extern IntPtr CreateProperty(uint service, IntPtr key, IntPtr allocator, uint options);
        [DllImport(IoKit, EntryPoint = "IOObjectRelease")]
        private static extern int ReleaseObject(uint handle);
        [DllImport(CoreFoundation, EntryPoint = "CFStringCreateWithCString")]
        private static extern IntPtr CreateText(IntPtr allocator, string text, uint encoding);
        [DllImport(CoreFoundation, EntryPoint = "CFStringGetCString")]
        private static extern byte CopyText(IntPtr text, byte[] buffer, IntPtr size, uint encoding);
        [DllImport(CoreFoundation, EntryPoint = "CFStringGetTypeID")]
        private static extern UIntPtr TextType();
        [DllImport(CoreFoundation, EntryPoint = "CFGetTypeID")]
        private static extern UIntPtr TypeOf(IntPtr value);
        [DllImport(CoreFoundation, EntryPoint = "CFRelease")]
        private static extern void Release(IntPtr value);

        public static string Read(string property)
        {
            string value =
                property == "machine" ? Find("IOPlatformExpertDevice", "IOPlatformUUID") :
                property == "board" ? Find("IOPlatformExpertDevice", "IOPlatformSerialNumber") :
                Find("IONVMeController", "Serial Number");
            return value ?? throw new Machine.AbsentException();
        }

        private static string Find(string service, string name)
        {
            IntPtr matching = MatchClass(service);
            // Consumes the reference to what it matches.
            if (matching == IntPtr.Zero || FindServices(0, matching, out uint services) != 0) throw new IOException("IOKit does not answer");
            try
            {
                for (uint one = Next(services); one != 0; one = Next(services))
                {
                    try
                    {
                        string value = ReadText(one, name);
                        if (!string.IsNullOrEmpty(value)) return value;
                    }
                    finally
                    {
                        ReleaseObject(one);
                    }
                }
                return null;
            }
            finally
            {
                ReleaseObject(services);
            }
        }

        private static string ReadText(uint service, string name)
        {
            IntPtr key = CreateText(IntPtr.Zero, name, Utf8);
            IntPtr value = CreateProperty(service, key, IntPtr.Zero, 0);
            Release(key);
            if (value == IntPtr.Zero) return null;
            try
            {
                var bytes = new byte[1024];
                if (TypeOf(value) != TextType() || CopyText(value, bytes, new IntPtr(bytes.Length), Utf8) == 0) return null;
                return Encoding.UTF8.GetString(bytes).Split('\0')[0];
            }
            finally
            {
                Release(value);
            }
        }
    }

    // Machine.cs

    /// <summary>The properties of a machine that the hardware id is derived from.</summary>
    internal sealed class Machine
    {
        public const string Linux = "linux";
        public const string Mac = "darwin";
        public const string Windows = "win32";

        public string Platform;
        public string Hostname = "";
        /// <summary>Name and version of the operating system.</summary>
        public string System = "";
        /// <summary>MAC addresses of the network cards, as <c>aa:bb:cc:dd:ee:ff</c>.</summary>
        public IReadOnlyList<string> Macs = new string[0];
        /// <summary>Throws <see cref="AbsentException"/> for what is missing, or what this user may never read.</summary>
        public Func<string, string> Read;
        /// <summary>The <c>machine</c>, <c>board</c> or <c>disk</c> of macOS and Windows; throws like <c>Read</c>.</summary>
        public Func<string, string> Property;

        /// <summary>A source that this machine does not have, or that this user may never read.</summary>
        internal sealed class AbsentException : Exception
        {
        }

        public static string ThisPlatform =>
            RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? Windows : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? Mac :
            RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? Linux : "other";

        public static Machine This()
        {
            string platform = ThisPlatform;
            return new Machine { Platform = platform, Hostname = Dns.GetHostName(), System = SystemName(platform), Macs = FindMacs(platform), Read = ReadFile, Property = Properties(platform) };
        }

        private static string SystemName(string platform)
        {
            try
            {
                if (platform == Linux) return "Linux " + File.ReadAllText("/proc/sys/kernel/osrelease").Trim();
                string[] words = RuntimeInformation.OSDescription.Split(' ');
                return platform == Windows ? RuntimeInformation.OSDescription : string.Join(" ", words.Take(2));
            }
            catch (Exception)
            {
                return platform;
            }
        }

        /// <summary>The addresses of the cards that are up and have an IP address, without loopback.</summary>
        private static List<string> FindMacs(string platform)
        {
            var macs = new List<string>();
            NetworkInterface[] cards;
            try
            {
                cards = NetworkInterface.GetAllNetworkInterfaces();
            }
            catch (Exception)
            {
                return macs;
            }
            foreach (NetworkInterface card in cards)
            {
                try
                {
                    if (card.NetworkInterfaceType == NetworkInterfaceType.Loopback || !IsRunning(card, platform)) continue;
                    if (card.GetIPProperties().UnicastAddresses.Count == 0) continue;
                    byte[] address = card.GetPhysicalAddress().GetAddressBytes();
                    if (platform == Windows && address.Length != 6) address = new byte[6];
                    Array.Resize(ref address, 6);
                    macs.Add(string.Join(":", address.Select(each => each.ToString("x2", CultureInfo.InvariantCulture))));
                }
                catch (Exception)
                {
                    // A card that disappears while it is looked at.
                }
            }
            return macs;
        }

        /// <summary>On Linux a card without the notion of a link is running, too, while it is up.</summary>
        private static bool IsRunning(NetworkInterface card, string platform)
        {
            if (card.OperationalStatus == OperationalStatus.Up) return true;
            if (platform != Linux || card.OperationalStatus != OperationalStatus.Unknown) return false;
            string flags = File.ReadAllText("/sys/class/net/" + card.Name + "/flags").Trim();
            return flags.StartsWith("0x", StringComparison.Ordinal) && (Convert.ToInt64(flags.Substring(2), 16) & 1) == 1;
        }

        private static string ReadFile(string path)
        {
            try
            {
                // .NET reports a folder like a file that may not be read.
                if (Directory.Exists(path)) throw new IOException(path + " is a folder");
                return File.ReadAllText(path, Encoding.UTF8);
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException || error is UnauthorizedAccessException)
            {
                throw new AbsentException();
            }
        }

        private static Func<string, string> Properties(string platform)
        {
            if (platform == Windows) return WindowsRegistry.Read;
            if (platform == Mac) return MacRegistry.Read;
            return name => throw new AbsentException();
        }

        public static bool IsLocallyAdministered(string mac)
        {
            int first = 0;
            foreach (char each in mac.Take(2))
            {
                int digit = "0123456789abcdef".IndexOf(each);
                if (digit < 0) break;
                first = first * 16 + digit;
            }
            return (first & 2) != 0;
        }
    }

    // Offline.Activation.cs

    internal sealed partial class Offline
    {
        /// <summary>The nonce of the request that waits for a file, 16 hex digits; a new one unless this key has one.</summary>
        public Task<string> RequestNonceAsync(string licenseKey) => AloneAsync(async () =>
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            string key = Secure.Sha256Hex(licenseKey);
            if (kept.PendingNonce != null && kept.PendingKey == key) return kept.PendingNonce;
            kept.PendingNonce = Bytes.ToHex(Secure.Random(Activation.NonceBytes));
            kept.PendingKey = key;
            await StoreAsync(kept).ConfigureAwait(false);
            return kept.PendingNonce;
        });

        /// <summary>Accepts a file that answers the pending request.</summary>
        public Task<OfflineAnswer> ActivateAsync(string file, string hwid) => AloneAsync(async () =>
        {
            string line = null;
            Activation activation = null;
            foreach (string each in Activation.LinesOf(file))
            {
                activation = Activation.Read(each, _appId, hwid, _keys);
                line = each;
                if (activation != null) break;
            }
            if (activation == null) throw Rejected("The file is damaged, or made for another app or another machine");
            Kept kept = await LoadAsync().ConfigureAwait(false);
            if (kept.PendingNonce != activation.Nonce) throw Rejected("The file does not answer the last request of this machine");
            double now = Time.Now();
            if (activation.Expires != null && now < activation.IssuedAt - TimeZoneTolerance) throw Rejected("The clock of this machine is behind: correct it and try again");
            if (activation.Expires != null && now >= activation.Expires) throw Rejected("The file has ended");
            // It answers a request of this machine, so that it is newer than a time that was seen: the clock was wrong.
            kept.Latest = activation.IssuedAt;
            kept.BootId = null;
            kept.File = line;
            kept.FileNonce = kept.PendingNonce;
            kept.FileKey = kept.PendingKey;
            kept.PendingNonce = kept.PendingKey = null;
            await StoreAsync(kept).ConfigureAwait(false);
            Time.Forget();
            return activation.Answer(now);
        });

        /// <summary>Forgets the activation and the pending request; returns the code, or null without an activation.</summary>
        public Task<string> DeactivateAsync(string hwid) => AloneAsync(async () =>
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            Activation activation = ReadActivation(kept, hwid);
            if (activation == null) return null;
            kept.File = kept.FileNonce = kept.FileKey = kept.PendingNonce = kept.PendingKey = null;
            await StoreAsync(kept).ConfigureAwait(false);
            return activation.Deactivation;
        });

        private static KeywardUsageException Rejected(string message) => new KeywardUsageException("activation_rejected", message);
    }

    // Offline.Answers.cs

    internal sealed partial class Offline
    {
        /// <summary>Whether <see cref="AnswerAsync"/> would answer now.</summary>
        public Task<bool> WouldAnswerAsync(string hwid, string licenseKey) => InTurnAsync(async () =>
            Find(await LoadAsync().ConfigureAwait(false), hwid, licenseKey).Answer.Problem == null);

        /// <summary>Answers from the lease or the activation. <paramref name="licenseKey"/> must be the key that signed in, if it is given.</summary>
        public Task<OfflineAnswer> AnswerAsync(string hwid, string licenseKey) => AloneAsync(async () =>
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            return await UseAsync(kept, Find(kept, hwid, licenseKey)).ConfigureAwait(false);
        });

        /// <summary>Answers from the activation alone.</summary>
        public Task<OfflineAnswer> AnswerFromActivationAsync(string hwid) => AloneAsync(async () =>
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            return await UseAsync(kept, FindActivation(kept, hwid, null)).ConfigureAwait(false);
        });

        /// <summary>A statement that helps now, or why none does.</summary>
        private sealed class Found
        {
            public OfflineAnswer Answer;
            /// <summary>The time by which it was judged; null for a statement without an end, which no clock concerns.</summary>
            public double? Now;
            public Lease Lease;

            public static Found Not(string problem) => new Found { Answer = OfflineAnswer.Of(problem) };
        }

        private Found Find(Kept kept, string hwid, string licenseKey)
        {
            string key = licenseKey == null ? null : Secure.Sha256Hex(licenseKey);
            Found leased = FindLease(kept, hwid, key);
            if (leased.Answer.Problem == null) return leased;
            Found activated = FindActivation(kept, hwid, key);
            return activated.Answer.Problem == null || leased.Answer.Problem == "no_lease" ? activated : leased;
        }

        private Found FindLease(Kept kept, string hwid, string key)
        {
            Lease lease = ReadLease(kept, hwid);
            if (kept.User == null || lease == null || IsOlder(lease) || (key != null && kept.Key != key)) return Found.Not("no_lease");
            double tolerance = lease.GraceUntil - lease.IssuedAt >= DaysLong ? TimeZoneTolerance : ClockTolerance;
            string problem = Judge(kept, lease.IssuedAt, lease.GraceUntil, tolerance, out double now);
            if (problem != null) return Found.Not(problem);
            var user = new Dictionary<string, object>(kept.User, StringComparer.Ordinal);
            user["_id"] = lease.Subject;
            user["features"] = lease.Features;
            user["variables"] = lease.Variables;
            var answer = new OfflineAnswer
            {
                User = user,
                State = JsonText.Object("until", Clock.ToIso(lease.Expires), "graceUntil", Clock.ToIso(lease.GraceUntil), "inGrace", now >= lease.Expires),
            };
            return new Found { Answer = answer, Now = now, Lease = lease };
        }

        private Found FindActivation(Kept kept, string hwid, string key)
        {
            Activation activation = ReadActivation(kept, hwid);
            if (activation == null || (key != null && kept.FileKey != key)) return Found.Not("no_lease");
            if (activation.Expires == null) return new Found { Answer = activation.Answer(Time.Now()) };
            string problem = Judge(kept, activation.IssuedAt, activation.Expires.Value, TimeZoneTolerance, out double now);
            return problem != null ? Found.Not(problem) : new Found { Answer = activation.Answer(now), Now = now };
        }

        /// <summary>Notes the time at which a statement was used, from which the clock cannot go back.</summary>
        private async Task<OfflineAnswer> UseAsync(Kept kept, Found found)
        {
            if (found.Lease != null) _seen[found.Lease.Subject] = found.Lease.Sequence;
            if (found.Now != null && Time.Note(kept, found.Now.Value)) await TryStoreAsync(kept).ConfigureAwait(false);
            return found.Answer;
        }

        /// <summary>Whether this program has seen a newer lease: an older one was copied back.</summary>
        private bool IsOlder(Lease lease) => _seen.TryGetValue(lease.Subject, out double seen) && lease.Sequence < seen;

        /// <summary>Why a statement does not help now; null if it does. <paramref name="now"/> becomes the time.</summary>
        private string Judge(Kept kept, double issuedAt, double end, double tolerance, out double now)
        {
            double clock = Time.Now();
            double floor = Math.Max(Time.Floor(kept), issuedAt);
            // A clock that lags must not hold up the time that is noted: it could be set back again after every restart.
            now = Math.Max(clock, floor);
            if (clock < floor - tolerance) return "clock_set_back";
            return now >= end ? "lease_ended" : null;
        }

        private Lease ReadLease(Kept kept, string hwid) => Lease.Read(kept.Lease, _appId, hwid, _keys);

        private Activation ReadActivation(Kept kept, string hwid)
        {
            Activation activation = kept.File == null ? null : Activation.Read(kept.File, _appId, hwid, _keys);
            return activation != null && activation.Nonce == kept.FileNonce ? activation : null;
        }
    }

    // Offline.Storage.cs

    internal sealed partial class Offline
    {
        private Task<T> AloneAsync<T>(Func<Task<T>> change) => InTurnAsync(async () =>
        {
            using (await LockAsync().ConfigureAwait(false)) return await change().ConfigureAwait(false);
        });

        private async Task<T> InTurnAsync<T>(Func<Task<T>> work)
        {
            await _alone.WaitAsync().ConfigureAwait(false);
            try
            {
                return await work().ConfigureAwait(false);
            }
            finally
            {
                _alone.Release();
            }
        }

        private async Task<IDisposable> LockAsync()
        {
            try
            {
                return _storage is ILockedKeywardStorage locked ? await locked.LockAsync().ConfigureAwait(false) : null;
            }
            catch (Exception)
            {
                return null;
            }
        }

        private async Task<Kept> LoadAsync()
        {
            try
            {
                return Kept.From(await _storage.ReadAsync().ConfigureAwait(false));
            }
            catch (Exception cause)
            {
                return new Kept { ReadError = cause };
            }
        }

        /// <summary>A full disk must not stop a program that is online.</summary>
        private async Task<bool> TryStoreAsync(Kept kept)
        {
            try
            {
                await StoreAsync(kept).ConfigureAwait(false);
                return true;
            }
            catch (KeywardUsageException)
            {
                return false;
            }
        }

        /// <summary>Throws <c>storage_failed</c> unless the change is stored.</summary>
        private async Task StoreAsync(Kept kept)
        {
            // What is there would be lost.
            if (kept.ReadError != null) throw new KeywardUsageException("storage_failed", "The storage cannot be read. Nothing was changed.", kept.ReadError);
            try
            {
                await _storage.WriteAsync(kept.ToString()).ConfigureAwait(false);
            }
            catch (Exception cause)
            {
                throw new KeywardUsageException("storage_failed", "The storage cannot be written. Nothing was changed.", cause);
            }
        }

        /// <summary>What outlives the program. Members that other versions have written are kept.</summary>
        private sealed class Kept : TimeNotes
        {
            private Dictionary<string, object> _others = JsonText.Object();
            /// <summary>The latest lease; empty without one.</summary>
            public string Lease = "";
            /// <summary>The user of the last answer. It is not signed, therefore for display alone.</summary>
            public Dictionary<string, object> User;
            /// <summary>SHA-256 of the license key that signed in, if one did.</summary>
            public string Key;
            public string DeviceToken;
            /// <summary>The line of the activation file that was accepted, with the request that it answers.</summary>
            public string File;
            public string FileNonce;
            public string FileKey;
            /// <summary>The request that waits for a file.</summary>
            public string PendingNonce;
            public string PendingKey;
            public Exception ReadError;

            public void ForgetLease()
            {
                Lease = "";
                User = null;
                Key = null;
            }

            public static Kept From(string text)
            {
                var kept = new Kept();
                if (string.IsNullOrEmpty(text) || !JsonText.TryParse(text, out object value) || !(value is Dictionary<string, object> json)) return kept;
                kept.Lease = JsonText.Text(json, "lease") ?? "";
                if (json.TryGetValue("latest", out object latest) && latest is double seconds) kept.Latest = seconds;
                kept.User = json.TryGetValue("user", out object user) ? user as Dictionary<string, object> : null;
                kept.Key = JsonText.Text(json, "key");
                kept.DeviceToken = JsonText.Text(json, "deviceToken");
                if (json.TryGetValue("activation", out object found) && found is Dictionary<string, object> activation)
                {
                    if (TryReadRequest(activation, out string nonce, out string key) && JsonText.Text(activation, "file") is string file)
                    {
                        kept.File = file;
                        kept.FileNonce = nonce;
                        kept.FileKey = key;
                    }
                    if (TryReadRequest(JsonText.Child(activation, "pending"), out nonce, out key))
                    {
                        kept.PendingNonce = nonce;
                        kept.PendingKey = key;
                    }
                }
                if (json.TryGetValue("boot", out object start) && start is Dictionary<string, object> boot && Statement.TrySeconds(boot, "startedAt", out double startedAt))
                {
                    kept.BootId = JsonText.Text(boot, "id");
                    kept.BootStartedAt = startedAt;
                }
                foreach (string name in new[] { "lease", "latest", "boot", "user", "key", "deviceToken", "activation" }) json.Remove(name);
                kept._others = json;
                return kept;
            }

            private static bool TryReadRequest(Dictionary<string, object> json, out string nonce, out string key)
            {
                nonce = JsonText.Text(json, "nonce");
                key = JsonText.Text(json, "licenseKey");
                return key != null && nonce != null && nonce.Length == 2 * Activation.NonceBytes && nonce.All(each => "0123456789abcdef".IndexOf(each) >= 0);
            }

            public override string ToString()
            {
                var json = new Dictionary<string, object>(_others, StringComparer.Ordinal) { ["lease"] = Lease, ["latest"] = Latest, ["user"] = User, ["key"] = Key };
                if (BootId != null) json["boot"] = JsonText.Object("id", BootId, "startedAt", BootStartedAt);
                if (DeviceToken != null) json["deviceToken"] = DeviceToken;
                Dictionary<string, object> activation = JsonText.Object("file", File, "nonce", FileNonce, "licenseKey", FileKey);
                if (PendingNonce != null) activation["pending"] = JsonText.Object("nonce", PendingNonce, "licenseKey", PendingKey);
                if (activation.Count > 0) json["activation"] = activation;
                return JsonText.Write(json);
            }
        }
    }

    // Offline.cs

    /// <summary>An answer from a lease or an activation, or why there is none.</summary>
    internal struct OfflineAnswer
    {
        /// <summary><c>no_lease</c>, <c>lease_ended</c> or <c>clock_set_back</c>; null with an answer.</summary>
        public string Problem;
        public Dictionary<string, object> User;
        public Dictionary<string, object> State;

        public static OfflineAnswer Of(string problem) => new OfflineAnswer { Problem = problem };
    }

    /// <summary>Keeps the latest lease and the activation of a device, and answers with them while the server cannot be reached.</summary>
    internal sealed partial class Offline
    {
        /// <summary>How far a clock may lag behind the highest time that the server has signed, in seconds.</summary>
        private const double ClockTolerance = 300;
        /// <summary>For a file, and for a lease of days: the clock may be set to the farthest time zone.</summary>
        private const double TimeZoneTolerance = 14 * 3600;
        private const double DaysLong = 72 * 3600;

        private readonly IKeywardStorage _storage;
        private readonly string _appId;
        private readonly KeyRing _keys;
        /// <summary>One change after the other, so that none is lost, also those of other programs.</summary>
        private readonly SemaphoreSlim _alone = new SemaphoreSlim(1, 1);

        /// <summary>The highest number of a lease that this program has seen, by user.</summary>
        private readonly Dictionary<string, double> _seen = new Dictionary<string, double>(StringComparer.Ordinal);

        public readonly SeenTime Time = new SeenTime();

        public Offline(IKeywardStorage storage, string appId, KeyRing keys)
        {
            _storage = storage;
            _appId = appId;
            _keys = keys;
        }

        /// <summary>Whether a new lease is due for this user.</summary>
        public async Task<bool> IsDueAsync(string hwid, string userId)
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            Lease lease = ReadLease(kept, hwid);
            return lease == null || lease.Subject != userId || Time.Now() >= lease.RefreshAfter;
        }

        /// <summary>Stores a lease that the server has just issued; ignores one that is not valid, or older than the stored one.</summary>
        public Task KeepAsync(string text, string hwid, Dictionary<string, object> user, string licenseKey, Func<bool> isCurrent) => AloneAsync(async () =>
        {
            if (!isCurrent()) return false;
            Lease lease = Lease.Read(text, _appId, hwid, _keys);
            Kept kept = await LoadAsync().ConfigureAwait(false);
            Lease stored = ReadLease(kept, hwid);
            bool isSameUser = lease != null && stored != null && stored.Subject == lease.Subject;
            if (lease == null || IsOlder(lease) || (isSameUser && stored.Sequence > lease.Sequence)) return false;
            _seen[lease.Subject] = lease.Sequence;
            kept.Key = licenseKey != null ? Secure.Sha256Hex(licenseKey) : isSameUser ? kept.Key : null;
            kept.Lease = text;
            double latest = Math.Max(kept.Latest, lease.IssuedAt);
            // A clock that is ahead must not count: the server has just said what time it is.
            Time.Note(kept, Math.Min(Time.Now(), lease.IssuedAt));
            kept.Latest = latest;
            kept.User = user;
            return await TryStoreAsync(kept).ConfigureAwait(false);
        });

        /// <summary>
        /// Corrects the latest time after a clock that was far ahead. <paramref name="serverTime"/> is when the server signed the answer
        /// to a request of just now; an attacker can neither choose nor repeat it.
        /// </summary>
        public async Task CorrectTimeAsync(long serverTime, string hwid)
        {
            Func<Kept, bool> isAhead = kept => Time.Floor(kept) > serverTime + ClockTolerance;
            if (!isAhead(await LoadAsync().ConfigureAwait(false))) return;
            await AloneAsync(async () =>
            {
                Kept kept = await LoadAsync().ConfigureAwait(false);
                Lease lease = hwid == null ? null : ReadLease(kept, hwid);
                double latest = Math.Max(serverTime, lease == null ? 0 : lease.IssuedAt);
                if (!isAhead(kept)) return false;
                Time.Forget();
                kept.Latest = Math.Min(kept.Latest, latest);
                kept.BootId = null;
                return await TryStoreAsync(kept).ConfigureAwait(false);
            }).ConfigureAwait(false);
        }

        /// <summary>Forgets the lease and the activation after a refusal.</summary>
        public Task ForgetLeaseAsync(Func<bool> isCurrent) => AloneAsync(async () =>
        {
            if (!isCurrent()) return false;
            Kept kept = await LoadAsync().ConfigureAwait(false);
            kept.ForgetLease();
            kept.File = kept.FileNonce = kept.FileKey = null;
            return await TryStoreAsync(kept).ConfigureAwait(false);
        });

        /// <summary>Forgets everything but the time and the activation, after a sign-out.</summary>
        public Task ForgetAsync() => AloneAsync(async () =>
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            kept.ForgetLease();
            kept.DeviceToken = null;
            return await TryStoreAsync(kept).ConfigureAwait(false);
        });

        /// <summary>Forgets a token that the server has refused, unless another program on this machine has stored a newer one.</summary>
        public Task DropDeviceTokenAsync(string refused) => AloneAsync(async () =>
        {
            Kept kept = await LoadAsync().ConfigureAwait(false);
            if (kept.DeviceToken != refused) return false;
            kept.DeviceToken = null;
            return await TryStoreAsync(kept).ConfigureAwait(false);
        });

        public async Task<string> DeviceTokenAsync() => (await LoadAsync().ConfigureAwait(false)).DeviceToken;

        public Task KeepDeviceTokenAsync(string deviceToken, Func<bool> isCurrent) => AloneAsync(async () =>
        {
            if (!isCurrent()) return false;
            Kept kept = await LoadAsync().ConfigureAwait(false);
            kept.DeviceToken = deviceToken;
            return await TryStoreAsync(kept).ConfigureAwait(false);
        });
    }

    // PlaceholderIds.cs

    // Written by packages/sdk/generate.ts from the contract.
    internal static class PlaceholderIds
    {
        /// <summary>Ids and serial numbers that many machines have, in lower case: they identify none of them.</summary>
        public static readonly HashSet<string> All = new HashSet<string>(StringComparer.Ordinal)
        {
            "to be filled by o.e.m.",
            "to be filled by o.e.m",
            "to be filled by oem",
            "to be filled by o.e.m. by more string",
            "filled by oem",
            "o.e.m.",
            "o.e.m",
            "oem",
            "oem_serial",
            "default string",
            "system serial number",
            "system uuid",
            "system product name",
            "system manufacturer",
            "system version",
            "chassis serial number",
            "base board serial number",
            "baseboard serial number",
            "board serial number",
            "motherboard serial number",
            "type2 - board serial number",
            "serial number",
            "serialnumber",
            "serial",
            "asset tag",
            "no asset tag",
            "not specified",
            "not applicable",
            "not available",
            "not present",
            "not provided",
            "not set",
            "not settable",
            "not defined",
            "no enclosure",
            "unspecified",
            "unavailable",
            "unknown",
            "undefined",
            "uninitialized",
            "invalid",
            "empty",
            "none",
            "null",
            "nil",
            "nan",
            "(none)",
            "<none>",
            "(null)",
            "<null>",
            "n/a",
            "na",
            "tbd",
            "0123456789",
            "01234567890123456789",
            "0123456789abcdef",
            "12345678",
            "123456789",
            "1234567890",
            "12345678901234567890",
            "123456789abcdef",
            "123456789012345",
            "1234567890123456",
            "ssn12345678901234567",
            "bsn12345678901234567",
            "mb-1234567890",
            "asset-1234567890",
            "12345678-1234-5678-90ab-cddeefaabbcc",
            "12345678-1234-1234-1234-123456789012",
            "12345678-1234-1234-1234-1234567890ab",
            "00020003-0004-0005-0006-000700080009",
            "03000200-0400-0500-0006-000700080009",
            "03020100-0504-0706-0809-0a0b0c0d0e0f",
            "00112233-4455-6677-8899-aabbccddeeff",
            "fefefefe-fefe-fefe-fefe-fefefefefefe",
            "d41d8cd98f00b204e9800998ecf8427e",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        };
    }

    // ProxyAddress.cs

    /// <summary>An HTTP proxy, as the option names it. Messages do not repeat the option, which may contain a password.</summary>
    internal sealed class ProxyAddress : IWebProxy
    {
        /// <summary>Not used: <see cref="Authorization"/> is sent without being asked for.</summary>
        public ICredentials Credentials { get; set; }

        public Uri GetProxy(Uri destination) => Address;

        /// <summary>The class of the framework leaves out addresses of this machine.</summary>
        public bool IsBypassed(Uri host) => false;

        public Uri Address;
        public string User;
        public string Password;

        public static ProxyAddress From(string proxy)
        {
            var wrong = CheckedOptions.Wrong("Proxy must be an address such as http://user:password@host:port");
            if (proxy.Length > 2048 || !Uri.TryCreate(proxy, UriKind.Absolute, out Uri address)) throw wrong;
            if (address.Scheme != "http" || address.Host == "" || address.PathAndQuery != "/" || address.Fragment != "") throw wrong;
            // As typed: Uri repairs broken escapes.
            string authority = proxy.Substring(proxy.IndexOf("//", StringComparison.Ordinal) + 2).Split('/')[0];
            string credentials = authority.Substring(0, Math.Max(authority.LastIndexOf('@'), 0));
            int colon = credentials.IndexOf(':');
            string user = Decoded(colon < 0 ? credentials : credentials.Substring(0, colon));
            string password = colon < 0 ? "" : Decoded(credentials.Substring(colon + 1));
            if (user == null || password == null || user.Contains(":") || (user + password).Any(char.IsControl)) throw wrong;
            return new ProxyAddress { Address = new Uri("http://" + address.Authority), User = user, Password = password };
        }

        public bool HasCredentials => User != "" || Password != "";

        /// <summary>The value of <c>Proxy-Authorization</c>.</summary>
        public string Authorization => "Basic " + Convert.ToBase64String(Internal.Text.ToUtf8(User + ":" + Password));

        /// <summary>Without percent-encoding; null if that is broken.</summary>
        private static string Decoded(string text)
        {
            var bytes = new MemoryStream();
            for (int at = 0; at < text.Length; at++)
            {
                bool isPair = char.IsHighSurrogate(text[at]) && at + 1 < text.Length;
                byte[] plain = Internal.Text.ToUtf8(text.Substring(at, isPair ? 2 : 1));
                if (isPair) at++;
                if (text[at] == '%')
                {
                    if (at + 2 >= text.Length || !byte.TryParse(text.Substring(at + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out byte value)) return null;
                    plain = new[] { value };
                    at += 2;
                }
                bytes.Write(plain, 0, plain.Length);
            }
            try
            {
                return new UTF8Encoding(false, true).GetString(bytes.ToArray());
            }
            catch (ArgumentException)
            {
                return null;
            }
        }
    }

    // SdkVersion.cs

    // Written by packages/sdk/generate.ts from the contract.
    internal static class SdkVersion
    {
        /// <summary>What the program sends as <c>sdk</c> when it opens a session.</summary>
        public const string Sdk = "keyward-csharp/1.4.0";
    }

    // SeenTime.cs

    /// <summary>What a storage keeps about the time.</summary>
    internal class TimeNotes
    {
        /// <summary>The latest time that was ever seen, in seconds since 1970.</summary>
        public double Latest;
        /// <summary>The run of the system, and when it began by the clock of that run; null where the platform names no runs.</summary>
        public string BootId;
        public double BootStartedAt;
    }

    /// <summary>The clock of the machine, and how far it must have come: a clock that stands still or goes back gains no time.</summary>
    internal sealed class SeenTime
    {
        private sealed class Anchor
        {
            public double Wall;
            public double Elapsed;
        }

        private static readonly Lazy<string> BootId = new Lazy<string>(FindBootId);
        private volatile Anchor _anchor;

        public Func<double> Now = () => Clock.UnixSeconds;
        public Func<double> Elapsed = () => Clock.NowMs / 1000.0;

        /// <summary>Where the clock must be at least, by what is stored and by this run of the program.</summary>
        public double Floor(TimeNotes kept)
        {
            double? uptime = kept.BootId != null && kept.BootId == BootId.Value ? Uptime() : null;
            return Math.Max(Math.Max(kept.Latest, InRun()), uptime == null ? 0 : kept.BootStartedAt + uptime.Value);
        }

        /// <summary>Notes that the clock was believed at <paramref name="now"/>. Returns whether what is kept changed.</summary>
        public bool Note(TimeNotes kept, double now)
        {
            double latest = Math.Floor(Math.Max(now, InRun()));
            if (now >= InRun()) _anchor = new Anchor { Wall = now, Elapsed = Elapsed() };
            bool isLater = latest > kept.Latest;
            if (isLater) kept.Latest = latest;
            return NoteBoot(kept, now) || isLater;
        }

        private static bool NoteBoot(TimeNotes kept, double now)
        {
            double? uptime = BootId.Value == null ? null : Uptime();
            if (uptime == null) return false;
            double startedAt = Math.Floor(now - uptime.Value);
            if (kept.BootId == BootId.Value && kept.BootStartedAt >= startedAt) return false;
            kept.BootId = BootId.Value;
            kept.BootStartedAt = startedAt;
            return true;
        }

        /// <summary>Believes nothing of what this run has seen.</summary>
        public void Forget() => _anchor = null;

        private double InRun()
        {
            Anchor anchor = _anchor;
            return anchor == null ? 0 : anchor.Wall + Elapsed() - anchor.Elapsed;
        }

        /// <summary>Null on systems other than Linux, and where it cannot be read.</summary>
        private static string FindBootId()
        {
            try
            {
                if (Machine.ThisPlatform != Machine.Linux) return null;
                return File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim() + "/" + (FileStorage.LinkTarget("/proc/self/ns/time") ?? "-");
            }
            catch (Exception)
            {
                return null;
            }
        }

        private static double? Uptime()
        {
            try
            {
                return double.Parse(File.ReadAllText("/proc/uptime").Split(' ')[0], CultureInfo.InvariantCulture);
            }
            catch (Exception)
            {
                return null;
            }
        }
    }

    // SentRequest.cs

    /// <summary>A request, and what of it the signature of the answer must cover.</summary>
    internal sealed class SentRequest
    {
        public Uri Url;
        public string Method;
        /// <summary>Path of the public URL, percent-encoded as sent, without the query.</summary>
        public string Path;
        public string Nonce;
        public string Authorization;
        public string ContentDigest;
        public byte[] Body;
        public bool Repeatable;
        public string AppId;
        public string KeyIds;

        public static SentRequest From(Call call, CheckedOptions options)
        {
            var url = new Uri(options.Origin, options.Prefix + "/api/client/" + call.Name);
            var sent = new SentRequest
            {
                Url = url,
                Method = call.Method,
                Path = url.AbsolutePath,
                Nonce = Bytes.ToBase64Url(Secure.Random(24)),
                Repeatable = call.Repeatable,
                KeyIds = string.Join(",", options.Keys.Ids),
            };
            if (call.Session != null)
            {
                sent.Authorization = "Bearer " + call.Session;
                sent.AppId = options.AppId;
            }
            if (call.Body != null)
            {
                sent.Body = Text.ToUtf8(JsonText.Write(call.Body));
                sent.ContentDigest = Verification.DigestOf(sent.Body);
            }
            return sent;
        }
    }

    /// <summary>An answer before it is trusted.</summary>
    internal sealed class Answer
    {
        public int Status;
        public byte[] Body;
        /// <summary>By name in lower case; the values of a repeated name are joined.</summary>
        public Dictionary<string, string> Headers;

        /// <summary>Without the white space around it; empty if it is not there.</summary>
        public string Header(string name) => Headers.TryGetValue(name, out string value) ? Text.Trim(value) : "";
    }

    // Statement.cs

    /// <summary>Statements that the server signs for one device, as compact JWS.</summary>
    internal static class Statement
    {
        /// <summary>Returns the claims if the text is one of this type, signed by a pinned key, for this app and this device; else null. Ignores the clock.</summary>
        public static Dictionary<string, object> Read(string text, string type, string appId, string hwid, KeyRing keys)
        {
            string[] parts = text.Split('.');
            if (parts.Length != 3) return null;
            byte[] header = Bytes.FromBase64Url(parts[0]);
            byte[] claims = Bytes.FromBase64Url(parts[1]);
            byte[] signature = Bytes.FromBase64Url(parts[2]);
            if (header == null || claims == null || signature == null || signature.Length != 64) return null;
            Dictionary<string, object> named = Parse(header);
            if (JsonText.Text(named, "alg") != "EdDSA" || JsonText.Text(named, "typ") != type) return null;
            string kid = JsonText.Text(named, "kid");
            VerifyKey key = kid == null ? null : keys.Find(kid);
            if (key == null || !key.Verify(Text.ToUtf8(parts[0] + "." + parts[1]), signature)) return null;
            Dictionary<string, object> found = Parse(claims);
            bool isOurs = JsonText.Text(found, "iss") == "keyward" && JsonText.Text(found, "aud") == appId && JsonText.Text(found, "hwid") == Secure.Sha256Hex(hwid);
            return isOurs ? found : null;
        }

        private static Dictionary<string, object> Parse(byte[] json) =>
            JsonText.TryParse(Text.FromUtf8(json), out object value) && value is Dictionary<string, object> found ? found : JsonText.Object();

        public static bool TrySeconds(Dictionary<string, object> claims, string name, out double seconds)
        {
            claims.TryGetValue(name, out object value);
            seconds = value is double number ? number : double.NaN;
            return seconds >= 0 && seconds < 253402300800 && Math.Floor(seconds) == seconds;
        }
    }

    /// <summary>A statement with which a program runs offline for a while; times in seconds since 1970.</summary>
    internal sealed class Lease
    {
        public string Subject;
        public double IssuedAt;
        public double Expires;
        public double RefreshAfter;
        public double GraceUntil;
        public double Sequence;
        public List<object> Features;
        /// <summary>The variables that the vendor offers offline; servers of earlier versions send none.</summary>
        public Dictionary<string, object> Variables;

        public static Lease Read(string text, string appId, string hwid, KeyRing keys)
        {
            Dictionary<string, object> claims = Statement.Read(text, "keyward-lease+jws", appId, hwid, keys);
            if (claims == null) return null;
            var lease = new Lease { Subject = JsonText.Text(claims, "sub") };
            bool isComplete = lease.Subject != null &&
                Statement.TrySeconds(claims, "iat", out lease.IssuedAt) && Statement.TrySeconds(claims, "exp", out lease.Expires) &&
                Statement.TrySeconds(claims, "refreshAfter", out lease.RefreshAfter) && Statement.TrySeconds(claims, "graceUntil", out lease.GraceUntil) &&
                Statement.TrySeconds(claims, "seq", out lease.Sequence);
            lease.Features = claims.TryGetValue("features", out object features) ? features as List<object> : null;
            lease.Variables = JsonText.Child(claims, "variables").Where(each => each.Value is string).ToDictionary(each => each.Key, each => each.Value, StringComparer.Ordinal);
            return isComplete && lease.Features != null ? lease : null;
        }
    }

    /// <summary>The activation of a machine that is never online; times in seconds since 1970.</summary>
    internal sealed class Activation
    {
        public const int NonceBytes = 8;
        public const int LicenseKeyMax = 100;
        private const int CheckBytes = 4;
        /// <summary>The longest file that is read: as many lines as an app can have keys, and more.</summary>
        private const int FileLengthMax = 1000000;

        public string Subject;
        public string Nonce;
        public double IssuedAt;
        /// <summary>Null for never.</summary>
        public double? Expires;
        public string Deactivation;
        private List<object> _features;
        private string _username;
        private string _term;
        /// <summary>When the license ends, without grace days; ISO 8601, null for never.</summary>
        private string _expiresAt;

        /// <summary>Verifies one line of a file. Looks neither at the clock nor at the nonce.</summary>
        public static Activation Read(string text, string appId, string hwid, KeyRing keys)
        {
            Dictionary<string, object> claims = Statement.Read(text, "keyward-activation+jws", appId, hwid, keys);
            // A missing end must not pass for none.
            if (claims == null || !claims.TryGetValue("exp", out object exp) || !claims.TryGetValue("expiresAt", out object expiresAt)) return null;
            var activation = new Activation
            {
                Subject = JsonText.Text(claims, "sub"),
                Nonce = JsonText.Text(claims, "nonce"),
                Deactivation = JsonText.Text(claims, "deactivation"),
                _username = JsonText.Text(claims, "username"),
                _term = JsonText.Text(claims, "term"),
                _features = claims.TryGetValue("features", out object features) ? features as List<object> : null,
                _expiresAt = expiresAt as string,
            };
            double end = 0;
            bool isComplete = activation.Subject != null && activation.Nonce != null && activation.Deactivation != null && activation._username != null &&
                activation._term != null && activation._features != null && Statement.TrySeconds(claims, "iat", out activation.IssuedAt) &&
                (exp == null || Statement.TrySeconds(claims, "exp", out end)) && Statement.TrySeconds(claims, "seq", out _) &&
                (expiresAt == null || (activation._expiresAt != null && JsonText.TryTime(activation._expiresAt, out _)));
            if (!isComplete) return null;
            if (exp != null) activation.Expires = end;
            return activation;
        }

        /// <summary>The lines of a file: the same statement, signed once with each key.</summary>
        public static IEnumerable<string> LinesOf(string file) =>
            file.Length > FileLengthMax ? new string[0] : Text.Words(file);

        public OfflineAnswer Answer(double now)
        {
            string until = Expires == null ? null : Clock.ToIso(Expires.Value);
            bool hasEnded = _expiresAt != null && JsonText.TryTime(_expiresAt, out DateTimeOffset end) &&
                now >= (end.UtcDateTime - new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc)).TotalSeconds;
            var user = new Dictionary<string, object>(StringComparer.Ordinal)
            {
                ["_id"] = Subject,
                ["username"] = _username,
                ["email"] = null,
                ["expiresAt"] = _expiresAt,
                ["inGrace"] = hasEnded,
                ["term"] = _term,
                ["createdAt"] = Clock.ToIso(IssuedAt),
                ["lastLoginAt"] = null,
                ["hwidBound"] = true,
                ["features"] = _features,
                ["variables"] = JsonText.Object(),
                ["updatesUntil"] = null,
                ["devices"] = JsonText.Object("used", 1.0, "limit", 1.0),
                ["seat"] = null,
            };
            var state = new Dictionary<string, object>(StringComparer.Ordinal) { ["until"] = until, ["graceUntil"] = until, ["inGrace"] = false };
            return new OfflineAnswer { User = user, State = state };
        }

        /// <summary>The request of a machine that is never online, as the vendor's console reads it.</summary>
        public static string EncodeRequest(string appId, string hwid, string licenseKey, byte[] nonce)
        {
            byte[] body = new byte[] { 1 }.Concat(nonce).Concat(Secure.Sha256(Text.ToUtf8(hwid))).Concat(Text.ToUtf8(licenseKey)).ToArray();
            byte[] digest = Secure.Sha256(Text.ToUtf8(appId).Concat(body).ToArray());
            string symbols = ToCrockford(body.Concat(digest.Take(CheckBytes)).ToArray());
            var text = new StringBuilder("KWR1");
            for (int at = 0; at < symbols.Length; at += 5) text.Append('-').Append(symbols, at, Math.Min(5, symbols.Length - at));
            return text.ToString();
        }

        /// <summary>Crockford base32 in upper case without padding; zero bits fill the last symbol.</summary>
        private static string ToCrockford(byte[] bytes)
        {
            const string symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
            var text = new StringBuilder();
            int bits = 0;
            int value = 0;
            foreach (byte each in bytes)
            {
                value = ((value << 8) | each) & 0xfff;
                for (bits += 8; bits >= 5; bits -= 5) text.Append(symbols[(value >> (bits - 5)) & 31]);
            }
            if (bits > 0) text.Append(symbols[(value << (5 - bits)) & 31]);
            return text.ToString();
        }
    }

    // StructuredFields.cs

    /// <summary>
    /// Parses a dictionary of RFC 9651 (<c>Signature</c>, <c>Signature-Input</c>, <c>Content-Digest</c>) more strictly than the RFC:
    /// repeated keys are errors, and byte sequences must be canonical base64, so that each value has one spelling.
    /// </summary>
    internal sealed class StructuredFields
    {
        /// <summary>A bare item with its parameters in their original order. Values are text, long, byte[], bool, or <see cref="Other"/>.</summary>
        internal class Item
        {
            public object Value;
            public List<KeyValuePair<string, object>> Params;
        }

        /// <summary>A member of the dictionary: an item or an inner list.</summary>
        internal sealed class Member
        {
            public Item Item;
            public List<Item> Items;
            public List<KeyValuePair<string, object>> Params;
        }

        /// <summary>A token, a decimal or a date: never mistaken for a string or an integer.</summary>
        private sealed class Other
        {
        }

        private const int MaxLength = 16384;
        private const string Lower = "abcdefghijklmnopqrstuvwxyz";
        private const string Digits = "0123456789";
        private const string Letters = Lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        private readonly string _text;
        private int _at;

        private StructuredFields(string text) { _text = text; }

        /// <summary>Throws <see cref="FormatException"/>.</summary>
        public static Dictionary<string, Member> ParseDictionary(string text)
        {
            if (text.Length > MaxLength) throw new FormatException("The field is too long");
            return new StructuredFields(text).Dictionary();
        }

        /// <summary>Serializes a string item; the text must be printable ASCII, as every parsed string is.</summary>
        public static string Quote(string text) => "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

        private char Next => _at < _text.Length ? _text[_at] : '\0';

        private FormatException Fail(string what) => new FormatException(what + " at " + Text.Of(_at));

        private void Skip(string characters)
        {
            while (_at < _text.Length && characters.IndexOf(Next) >= 0) _at++;
        }

        private Dictionary<string, Member> Dictionary()
        {
            var members = new Dictionary<string, Member>(StringComparer.Ordinal);
            Skip(" ");
            while (_at < _text.Length)
            {
                string key = Key();
                if (members.ContainsKey(key)) throw Fail("Key " + key + " is repeated");
                members.Add(key, ReadMember());
                Skip(" \t");
                if (_at == _text.Length) break;
                if (Next != ',') throw Fail("Expected a comma");
                _at++;
                Skip(" \t");
                if (_at == _text.Length) throw Fail("Unexpected end after a comma");
            }
            return members;
        }

        private string Key()
        {
            int start = _at;
            if (_at < _text.Length && (Lower + "*").IndexOf(Next) >= 0) Skip(Lower + Digits + "_.*-");
            if (_at == start) throw Fail("Expected a key");
            return _text.Substring(start, _at - start);
        }

        private Member ReadMember()
        {
            if (Next != '=')
            {
                var flag = new Item { Value = true, Params = Parameters() };
                return new Member { Item = flag, Params = flag.Params };
            }
            _at++;
            if (Next == '(') return InnerList();
            Item item = ReadItem();
            return new Member { Item = item, Params = item.Params };
        }

        private Member InnerList()
        {
            _at++;
            var items = new List<Item>();
            for (;;)
            {
                Skip(" ");
                if (Next == ')') break;
                items.Add(ReadItem());
                if (Next != ' ' && Next != ')') throw Fail("Expected a space or the end of the list");
            }
            _at++;
            return new Member { Items = items, Params = Parameters() };
        }

        private Item ReadItem() => new Item { Value = BareItem(), Params = Parameters() };

        private List<KeyValuePair<string, object>> Parameters()
        {
            var parameters = new List<KeyValuePair<string, object>>();
            while (Next == ';')
            {
                _at++;
                Skip(" ");
                string key = Key();
                if (parameters.Any(each => each.Key == key)) throw Fail("Parameter " + key + " is repeated");
                object value = true;
                if (Next == '=')
                {
                    _at++;
                    value = BareItem();
                }
                parameters.Add(new KeyValuePair<string, object>(key, value));
            }
            return parameters;
        }

        private object BareItem()
        {
            char first = Next;
            if (first == '"') return QuotedString();
            if (first == ':') return ByteSequence();
            if (first == '?')
            {
                char flag = _at + 1 < _text.Length ? _text[_at + 1] : '\0';
                if (flag != '0' && flag != '1') throw Fail("Expected a boolean");
                _at += 2;
                return flag == '1';
            }
            if (first == '@')
            {
                _at++;
                if (!(Number() is long)) throw Fail("Expected a date");
                return new Other();
            }
            if (first == '-' || (first >= '0' && first <= '9')) return Number();
            if (_at >= _text.Length || (Letters + "*").IndexOf(first) < 0) throw Fail("Expected an item");
            Skip(Letters + Digits + "!#$%&'*+.^_`|~:/-");
            return new Other();
        }

        private string QuotedString()
        {
            var value = new StringBuilder();
            for (int at = _at + 1; at < _text.Length; at++)
            {
                char each = _text[at];
                if (each == '"')
                {
                    _at = at + 1;
                    return value.ToString();
                }
                if (each == '\\')
                {
                    at++;
                    if (at >= _text.Length || (_text[at] != '"' && _text[at] != '\\')) break;
                    each = _text[at];
                }
                if (each < ' ' || each > '~') break;
                value.Append(each);
            }
            throw Fail("Expected a string");
        }

        private byte[] ByteSequence()
        {
            int end = _text.IndexOf(':', _at + 1);
            byte[] bytes = end < 0 ? null : Bytes.FromBase64(_text.Substring(_at + 1, end - _at - 1));
            if (bytes == null) throw Fail("Expected a byte sequence in canonical base64");
            _at = end + 1;
            return bytes;
        }

        /// <summary>An integer of up to 15 digits, or a decimal.</summary>
        private object Number()
        {
            int start = _at;
            if (Next == '-') _at++;
            int digits = _at;
            Skip(Digits);
            int integers = _at - digits;
            if (Next == '.')
            {
                _at++;
                int point = _at;
                Skip(Digits);
                int decimals = _at - point;
                if (integers < 1 || integers > 12 || decimals < 1 || decimals > 3 || Next == '.') throw Fail("Expected a number");
                return new Other();
            }
            if (integers < 1 || integers > 15) throw Fail("Expected a number");
            return long.Parse(_text.Substring(start, _at - start), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
        }
    }

    // Text.cs

    /// <summary>Texts as JavaScript has them, whatever the culture.</summary>
    internal static class Text
    {
        private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, false);

        public static byte[] ToUtf8(string text) => Utf8.GetBytes(text);

        /// <summary>Without a byte order mark; what is not UTF-8 is replaced.</summary>
        public static string FromUtf8(byte[] bytes)
        {
            int start = bytes.Length >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0;
            return Utf8.GetString(bytes, start, bytes.Length - start);
        }

        public static string Of(long number) => number.ToString(CultureInfo.InvariantCulture);

        public static string Head(string text, int length) => text.Length <= length ? text : text.Substring(0, length);

        public static bool IsWord(char each) =>
            (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '_';

        private static bool IsSpace(char each) =>
            (each >= '\t' && each <= '\r') || each == '\u2028' || each == '\u2029' || each == '\ufeff' ||
            (each != '\u180e' && char.GetUnicodeCategory(each) == UnicodeCategory.SpaceSeparator);

        public static string Trim(string text)
        {
            int start = 0;
            int end = text.Length;
            while (start < end && IsSpace(text[start])) start++;
            while (end > start && IsSpace(text[end - 1])) end--;
            return text.Substring(start, end - start);
        }

        /// <summary>What stands between white space.</summary>
        public static IEnumerable<string> Words(string text)
        {
            int start = -1;
            for (int at = 0; at <= text.Length; at++)
            {
                bool isWord = at < text.Length && !IsSpace(text[at]);
                if (isWord && start < 0) start = at;
                if (isWord || start < 0) continue;
                yield return text.Substring(start, at - start);
                start = -1;
            }
        }

        public static string Lower(string text) => text.Replace("\u0130", "i\u0307").ToLowerInvariant();
    }

    // Transport.cs

    /// <summary>Sends calls, accepts only signed answers, and retries what is safe to repeat.</summary>
    internal sealed class Transport : IDisposable
    {
        private const int MaxAttempts = 3;
        private const int FirstPauseMs = 250;
        private const int LongestPauseMs = 4000;

        /// <summary>Errors that a retry within seconds does not mend.</summary>
        private static readonly HashSet<string> Lasting = new HashSet<string>(StringComparer.Ordinal)
            { "unexpected_answer", "captive_portal", "wrong_address", "unknown_app", "blocked", "certificate", "clock" };

        private readonly CheckedOptions _options;
        private readonly Http _http;
        private long _serverTime = -1;

        public Transport(CheckedOptions options)
        {
            _options = options;
            _http = new Http(options);
        }

        public void Dispose() => _http.Dispose();

        /// <summary>
        /// When the server signed its last verdict, in seconds since 1970; -1 before. The clock of this machine has no part in it.
        /// </summary>
        public long ServerTime => Interlocked.Read(ref _serverTime);

        /// <summary><paramref name="deadline"/> is a time of <see cref="Clock.NowMs"/>; no attempt or pause exceeds it.</summary>
        public async Task<Outcome> SendAsync(Call call, long deadline, CancellationToken cancellationToken)
        {
            for (int attempt = 1; ; attempt++)
            {
                long startedAt = Clock.NowMs;
                KeywardException error;
                try
                {
                    Outcome outcome = await AttemptAsync(call, attempt, deadline, cancellationToken).ConfigureAwait(false);
                    Log(call, new LogEvent { Event = "response", Attempt = attempt, Status = outcome.Status, DurationMs = Clock.NowMs - startedAt, Code = outcome.LogCode, Reference = outcome.LogReference });
                    return outcome;
                }
                catch (KeywardException caught)
                {
                    error = caught;
                }
                long? pauseMs = PauseBeforeNext(call, attempt, error);
                var facts = new LogEvent { Event = "failed", Attempt = attempt, Code = error.Code, DurationMs = Clock.NowMs - startedAt };
                facts.Status = error is KeywardSignatureException refused ? refused.Status : (error as KeywardNetworkException)?.Status;
                if (pauseMs == null || Clock.NowMs + pauseMs.Value >= deadline)
                {
                    Log(call, facts);
                    System.Runtime.ExceptionServices.ExceptionDispatchInfo.Capture(error).Throw();
                }
                facts.Event = "retry";
                facts.DelayMs = pauseMs;
                Log(call, facts);
                await Task.Delay((int)pauseMs.Value, cancellationToken).ConfigureAwait(false);
            }
        }

        /// <summary>Only the first part of a name: the others are ids.</summary>
        private void Log(Call call, LogEvent facts)
        {
            facts.Call = call.Name.Split('/')[0];
            _options.Log(facts);
        }

        /// <summary>
        /// Null if the call must not be repeated. A signed 429 was sent before any work, so even other calls can be retried. A proxy
        /// may send an unsigned one after it lost the answer of a request that it passed on.
        /// </summary>
        private static long? PauseBeforeNext(Call call, int attempt, KeywardException error)
        {
            if (!(error is KeywardNetworkException failure) || attempt == MaxAttempts) return null;
            // A proxy that rejects the credentials would lock their account after a few more attempts.
            if (Lasting.Contains(failure.Code) || failure.Status == 407) return null;
            if (!call.Repeatable && failure.OutcomeUnknown) return null;
            double ceiling = Math.Min(LongestPauseMs, FirstPauseMs * Math.Pow(2, attempt));
            return (failure.RetryAfterMs ?? 0) + (long)Math.Round(ceiling * (0.5 + Secure.Fraction() / 2));
        }

        private async Task<Outcome> AttemptAsync(Call call, int attempt, long deadline, CancellationToken cancellationToken)
        {
            long leftMs = deadline - Clock.NowMs;
            if (leftMs <= 0) throw new KeywardNetworkException("timed_out", "The time for this call is used up", false);
            // Leave time for a retry, so that one hanging connection does not use up the whole timeout.
            long attemptMs = call.Repeatable && attempt < MaxAttempts ? (leftMs + 1) / 2 : leftMs;
            SentRequest sent = SentRequest.From(call, _options);
            Log(call, new LogEvent { Event = "request", Attempt = attempt });
            Answer answer = await _http.ExchangeAsync(sent, (int)attemptMs, cancellationToken).ConfigureAwait(false);
            if (Verification.IsUnavailable(sent, answer, _options.Keys, out long created)) throw ToUnavailable(answer);
            Interlocked.Exchange(ref _serverTime, created);
            return Outcome.From(answer);
        }

        private static KeywardNetworkException ToUnavailable(Answer answer)
        {
            long? retryAfterMs = RetryAfter(answer.Header("retry-after"));
            if (answer.Status != 429)
                return new KeywardNetworkException("server_error", "The server answered " + Text.Of(answer.Status), true, answer.Status, retryAfterMs);
            string wait = retryAfterMs > 0 ? "in " + Text.Of((retryAfterMs.Value + 999) / 1000) + " seconds" : "later";
            // Without a signature anyone may have sent this after the server executed the request.
            return new KeywardNetworkException("rate_limited", "Too many attempts; try again " + wait, !Verification.IsSigned(answer), 429, retryAfterMs);
        }

        private static long? RetryAfter(string value)
        {
            if (value == "") return null;
            if (value.Length <= 9 && value.All(each => each >= '0' && each <= '9')) return long.Parse(value, CultureInfo.InvariantCulture) * 1000;
            const DateTimeStyles styles = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
            if (!DateTime.TryParse(value, CultureInfo.InvariantCulture, styles, out DateTime date)) return null;
            return (long)Math.Max(0, (date - DateTime.UtcNow).TotalMilliseconds);
        }
    }

    // TunnelHandler.cs

    /// <summary>
    /// Sends <c>https</c> requests through an HTTP proxy, each on a connection of its own. The handlers of the platforms do not say
    /// whether the proxy refused the tunnel or the server answered.
    /// </summary>
    internal sealed class TunnelHandler : HttpMessageHandler
    {
        private const int MaxHeadBytes = 16 * 1024;
        /// <summary>More than any answer that is read to its end.</summary>
        private const int MaxBodyBytes = 300 * 1024;

        private readonly ProxyAddress _proxy;

        public TunnelHandler(ProxyAddress proxy) { _proxy = proxy; }

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            Uri url = request.RequestUri;
            TcpClient tcp = await ConnectAsync(url).ConfigureAwait(false);
            using (tcp)
            using (cancellationToken.Register(tcp.Dispose))
            using (SslStream stream = await OpenAsync(tcp, url).ConfigureAwait(false))
            {
                var head = new StringBuilder(request.Method.Method + " " + url.PathAndQuery + " HTTP/1.1\r\nHost: " + HostOf(url) + (url.IsDefaultPort ? "" : ":" + Text.Of(url.Port)) + "\r\nConnection: close\r\n");
                byte[] body = request.Content == null ? new byte[0] : await request.Content.ReadAsByteArrayAsync().ConfigureAwait(false);
                if (request.Method.Method != "GET") head.Append("Content-Length: ").Append(Text.Of(body.Length)).Append("\r\n");
                IEnumerable<KeyValuePair<string, IEnumerable<string>>> headers = request.Headers;
                if (request.Content != null) headers = headers.Concat(request.Content.Headers);
                foreach (KeyValuePair<string, IEnumerable<string>> each in headers)
                    if (each.Key != "Connection" && each.Key != "Content-Length") head.Append(each.Key).Append(": ").Append(string.Join(", ", each.Value)).Append("\r\n");
                await WriteAsync(stream, Encoding.ASCII.GetBytes(head.Append("\r\n").ToString()).Concat(body).ToArray()).ConfigureAwait(false);
                return await ReceiveAsync(stream).ConfigureAwait(false);
            }
        }

        private string Name => _proxy.Address.Authority;

        private static string HostOf(Uri url) => url.HostNameType == UriHostNameType.IPv6 ? url.Host : url.IdnHost;

        private KeywardNetworkException Unreachable(string message, int? status, Exception cause) =>
            new KeywardNetworkException("unreachable", message, false, status, cause: cause);

        private async Task<TcpClient> ConnectAsync(Uri url)
        {
            Exception failure = null;
            try
            {
                foreach (IPAddress address in await Dns.GetHostAddressesAsync(_proxy.Address.DnsSafeHost).ConfigureAwait(false))
                {
                    var tcp = new TcpClient(address.AddressFamily);
                    try
                    {
                        await tcp.ConnectAsync(address, _proxy.Address.Port).ConfigureAwait(false);
                        return tcp;
                    }
                    catch (SocketException error)
                    {
                        tcp.Dispose();
                        failure = error;
                    }
                }
            }
            catch (SocketException error)
            {
                failure = error;
            }
            throw Unreachable("Cannot reach " + url.Authority + ": the proxy at " + Name + " cannot be reached", null, failure);
        }

        /// <summary>Nothing was sent to the server before the tunnel and its encryption are there.</summary>
        private async Task<SslStream> OpenAsync(TcpClient tcp, Uri url)
        {
            try
            {
                NetworkStream stream = tcp.GetStream();
                string authority = HostOf(url) + ":" + Text.Of(url.Port);
                string credentials = _proxy.HasCredentials ? "Proxy-Authorization: " + _proxy.Authorization + "\r\n" : "";
                await WriteAsync(stream, Encoding.ASCII.GetBytes("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nUser-Agent: " + SdkVersion.Sdk + "\r\n" + credentials + "\r\n")).ConfigureAwait(false);
                int status = StatusOf((await ReadHeadAsync(stream).ConfigureAwait(false))[0]);
                if (status < 200 || status > 299) throw Unreachable("The proxy at " + Name + " answered " + Text.Of(status), status, null);
                // No setting of the program turns the verification off.
                var ssl = new SslStream(stream, false, (sender, certificate, chain, errors) => errors == SslPolicyErrors.None);
                await ssl.AuthenticateAsClientAsync(url.IdnHost, null, SslProtocols.None, false).ConfigureAwait(false);
                return ssl;
            }
            catch (Exception error) when (!(error is KeywardException))
            {
                KeywardNetworkException rejected = Certificates.ToError(error, url);
                if (rejected != null) throw rejected;
                throw Unreachable("The proxy at " + Name + " opened no tunnel to " + url.Authority, null, error);
            }
        }

        private static Task WriteAsync(Stream stream, byte[] bytes) => stream.WriteAsync(bytes, 0, bytes.Length);

        private static int StatusOf(string line)
        {
            Match match = Regex.Match(line, "^HTTP/1\\.[01] ([0-9]{3})(?: |$)", RegexOptions.CultureInvariant);
            return match.Success ? int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture) : throw new IOException("What answers speaks no HTTP");
        }

        /// <summary>Byte by byte, so that what follows stays in the stream.</summary>
        private static async Task<string> ReadLineAsync(Stream stream, int max)
        {
            var line = new StringBuilder();
            var one = new byte[1];
            while (line.Length < max)
            {
                if (await stream.ReadAsync(one, 0, 1).ConfigureAwait(false) != 1) throw new EndOfStreamException("The connection broke");
                if (one[0] != '\n') line.Append((char)one[0]);
                else return line.ToString().TrimEnd('\r');
            }
            throw new IOException("A line is too long");
        }

        private static async Task<List<string>> ReadHeadAsync(Stream stream)
        {
            var lines = new List<string>();
            for (int left = MaxHeadBytes; ; left -= lines[lines.Count - 1].Length + 1)
            {
                string line = await ReadLineAsync(stream, left).ConfigureAwait(false);
                if (line == "" && lines.Count > 0) return lines;
                lines.Add(line);
            }
        }

        private static async Task<HttpResponseMessage> ReceiveAsync(Stream stream)
        {
            List<string> head;
            do head = await ReadHeadAsync(stream).ConfigureAwait(false);
            while (StatusOf(head[0]) < 200);
            var response = new HttpResponseMessage((HttpStatusCode)StatusOf(head[0])) { Content = new ByteArrayContent(new byte[0]) };
            bool isChunked = false;
            long? length = null;
            var content = new List<KeyValuePair<string, string>>();
            foreach (string line in head.Skip(1))
            {
                int colon = line.IndexOf(':');
                if (colon < 1) throw new IOException("A header is broken");
                string name = line.Substring(0, colon);
                string value = line.Substring(colon + 1).Trim(' ', '\t');
                if (name.Equals("Transfer-Encoding", StringComparison.OrdinalIgnoreCase)) isChunked = value.Equals("chunked", StringComparison.OrdinalIgnoreCase) ? true : throw new IOException("An unknown coding");
                else if (name.Equals("Content-Length", StringComparison.OrdinalIgnoreCase)) length = value.Length < 16 && value.All(char.IsDigit) && value != "" ? long.Parse(value, CultureInfo.InvariantCulture) : throw new IOException("A length is broken");
                else if (!response.Headers.TryAddWithoutValidation(name, value)) content.Add(new KeyValuePair<string, string>(name, value));
            }
            int status = (int)response.StatusCode;
            bool isEmpty = status == 204 || status == 304;
            response.Content = new ByteArrayContent(isEmpty ? new byte[0] : isChunked ? await ReadChunksAsync(stream).ConfigureAwait(false) : await ReadBodyAsync(stream, length).ConfigureAwait(false));
            foreach (KeyValuePair<string, string> each in content) response.Content.Headers.TryAddWithoutValidation(each.Key, each.Value);
            return response;
        }

        private static async Task<byte[]> ReadChunksAsync(Stream stream)
        {
            var body = new MemoryStream();
            for (;;)
            {
                string size = (await ReadLineAsync(stream, 64).ConfigureAwait(false)).Split(';')[0].Trim();
                if (!int.TryParse(size, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out int length) || length < 0) throw new IOException("A chunk is broken");
                if (length == 0) return body.ToArray();
                byte[] chunk = await ReadBodyAsync(stream, length).ConfigureAwait(false);
                body.Write(chunk, 0, chunk.Length);
                if (body.Length >= MaxBodyBytes) return body.ToArray();
                if (await ReadLineAsync(stream, 3).ConfigureAwait(false) != "") throw new IOException("A chunk is broken");
            }
        }

        /// <summary>Without a length, to the end of the connection. Stops where no genuine answer goes on.</summary>
        private static async Task<byte[]> ReadBodyAsync(Stream stream, long? length)
        {
            var body = new MemoryStream();
            var buffer = new byte[16 * 1024];
            while (body.Length < Math.Min(length ?? long.MaxValue, MaxBodyBytes))
            {
                int wanted = (int)Math.Min(buffer.Length, (length ?? long.MaxValue) - body.Length);
                int read = await stream.ReadAsync(buffer, 0, wanted).ConfigureAwait(false);
                if (read <= 0 && length != null) throw new EndOfStreamException("The connection broke");
                if (read <= 0) break;
                body.Write(buffer, 0, read);
            }
            return body.ToArray();
        }
    }

    // Verification.cs

    /// <summary>Verifies that an answer is genuine, complete and meant for exactly this request.</summary>
    internal static class Verification
    {
        private const string Label = "keyward";
        /// <summary>No genuine answer is larger; reading stops beyond.</summary>
        public const int MaxAnswerBytes = 256 * 1024;

        /// <summary>The value of <c>Content-Digest</c> (RFC 9530) for a body.</summary>
        public static string DigestOf(byte[] body) => "sha-256=:" + Convert.ToBase64String(Secure.Sha256(body)) + ":";

        /// <summary>
        /// Classifies an answer as a verdict (false), or as unavailable (429 and 5xx, signed or not). Throws
        /// <see cref="KeywardNetworkException"/> for any other answer without a signature, and <see cref="KeywardSignatureException"/> for
        /// one whose signature fails. <paramref name="created"/> is when the server signed it, in seconds since 1970; -1 without a signature.
        /// </summary>
        public static bool IsUnavailable(SentRequest sent, Answer answer, KeyRing keys, out long created)
        {
            created = -1;
            bool unavailable = answer.Status == 429 || answer.Status >= 500;
            bool signed = IsSigned(answer);
            if (!signed && (!unavailable || answer.Status == 511)) throw ToStranger(answer);
            if (signed) created = Verify(sent, answer, keys);
            return unavailable;
        }

        /// <summary>
        /// Explains an unsigned answer: a captive portal, another site, a missing app, or something on the way. Anyone on the network can
        /// send these, as they can drop the request, so they are never a verdict.
        /// </summary>
        private static KeywardNetworkException ToStranger(Answer answer)
        {
            int status = answer.Status;
            if (IsPage(answer.Header("content-type")) || status == 511 || (status >= 300 && status < 400))
                return new KeywardNetworkException("captive_portal", "A web page answered: a captive portal, or BaseUrl is the address of another site", true, status);
            if (status == 404 || status == 405)
                return new KeywardNetworkException("wrong_address", "No Keyward server answers at BaseUrl (status " + Text.Of(status) + ")", false, status);
            if (status == 403 && JsonText.TryParse(Text.FromUtf8(answer.Body), out object body) &&
                body is Dictionary<string, object> refusal && JsonText.Text(refusal, "code") == LicenseState.AppDisabled)
                return new KeywardNetworkException("unknown_app", "The server has no app with this AppId", false, status);
            return new KeywardNetworkException("blocked", "A firewall, a proxy or another server answered in place of the server (status " + Text.Of(status) + ")", true, status);
        }

        private static bool IsPage(string contentType)
        {
            foreach (string page in new[] { "text/html", "application/xhtml+xml" })
            {
                if (!contentType.StartsWith(page, StringComparison.OrdinalIgnoreCase)) continue;
                if (contentType.Length == page.Length || !Text.IsWord(contentType[page.Length])) return true;
            }
            return false;
        }

        /// <summary>Whether an answer has a signature with the protocol's label, valid or not.</summary>
        public static bool IsSigned(Answer answer)
        {
            foreach (string name in new[] { "signature", "signature-input" })
            {
                string value = answer.Header(name);
                if (value == "") continue;
                try
                {
                    if (StructuredFields.ParseDictionary(value).ContainsKey(Label)) return true;
                }
                catch (FormatException)
                {
                    // Malformed is not absent: the verification reports what is wrong.
                    return true;
                }
            }
            return false;
        }

        /// <summary>The components that an answer must cover, in the protocol's order, with the expected values.</summary>
        private static List<KeyValuePair<string, string>> Expected(SentRequest sent, Answer answer)
        {
            var components = new List<KeyValuePair<string, string>>();
            Action<string, string> cover = (name, value) => components.Add(new KeyValuePair<string, string>(name, value));
            cover("\"@status\"", Text.Of(answer.Status));
            cover("\"content-digest\"", answer.Header("content-digest"));
            cover("\"@method\";req", sent.Method);
            cover("\"@path\";req", sent.Path);
            cover("\"keyward-nonce\";req", sent.Nonce);
            if (sent.Authorization != null) cover("\"authorization\";req", sent.Authorization);
            if (sent.ContentDigest != null) cover("\"content-digest\";req", sent.ContentDigest);
            return components;
        }

        /// <summary>The text that the server signed (RFC 9421, section 2.5).</summary>
        public static string SignatureBase(SentRequest sent, Answer answer, long created, string keyId)
        {
            List<KeyValuePair<string, string>> components = Expected(sent, answer);
            var text = new StringBuilder();
            foreach (KeyValuePair<string, string> each in components) text.Append(each.Key).Append(": ").Append(each.Value).Append('\n');
            text.Append("\"@signature-params\": (").Append(string.Join(" ", components.Select(each => each.Key))).Append(");created=")
                .Append(created.ToString(CultureInfo.InvariantCulture)).Append(";keyid=").Append(StructuredFields.Quote(keyId)).Append(";alg=\"ed25519\"");
            return text.ToString();
        }

        private static long Verify(SentRequest sent, Answer answer, KeyRing keys)
        {
            Func<string, string, KeywardSignatureException> refused = (code, message) =>
                new KeywardSignatureException(code, message + " (" + sent.Method + " " + sent.Path + ")", answer.Status);
            Func<string, StructuredFields.Member> member = name =>
            {
                try
                {
                    StructuredFields.ParseDictionary(answer.Header(name)).TryGetValue(Label, out StructuredFields.Member found);
                    return found;
                }
                catch (FormatException error)
                {
                    throw refused("malformed_signature", name + ": " + error.Message);
                }
            };

            if (answer.Body.Length > MaxAnswerBytes) throw refused("body_too_large", "The answer is larger than " + Text.Of(MaxAnswerBytes) + " bytes");
            StructuredFields.Member input = member("signature-input");
            StructuredFields.Member signature = member("signature");
            if (input?.Items == null || !(signature?.Item?.Value is byte[] bytes)) throw refused("malformed_signature", "The signature is incomplete");
            if (bytes.Length != 64 || signature.Params.Count > 0) throw refused("malformed_signature", "The signature is not one of Ed25519");

            List<string> expected = Expected(sent, answer).Select(each => each.Key).ToList();
            if (!input.Items.Select(ComponentName).SequenceEqual(expected, StringComparer.Ordinal))
                throw refused("wrong_coverage", "The signature must cover " + string.Join(" ", expected));
            if (!TryReadParameters(input, out long created, out string keyId)) throw refused("wrong_parameters", "The signature has other parameters");
            VerifyKey key = keys.Find(keyId);
            if (key == null) throw refused("unknown_key", "Signed with the unknown key " + keyId);
            if (!DigestMatches(answer)) throw refused("digest_mismatch", "The body does not match its Content-Digest");
            if (!key.Verify(Text.ToUtf8(SignatureBase(sent, answer, created, keyId)), bytes))
                throw refused("bad_signature", "The signature is not of this answer to this request");
            return created;
        }

        private static string ComponentName(StructuredFields.Item item)
        {
            if (!(item.Value is string name)) return "";
            return StructuredFields.Quote(name) + string.Concat(item.Params.Select(each => true.Equals(each.Value) ? ";" + each.Key : ";" + each.Key + "=?"));
        }

        internal static bool TryReadParameters(StructuredFields.Member input, out long created, out string keyId)
        {
            created = -1;
            keyId = null;
            if (string.Join(",", input.Params.Select(each => each.Key)) != "created,keyid,alg") return false;
            if (!(input.Params[0].Value is long seconds) || seconds < 0) return false;
            if (!(input.Params[1].Value is string name) || !(input.Params[2].Value is string alg) || alg != "ed25519") return false;
            created = seconds;
            keyId = name;
            return true;
        }

        private static bool DigestMatches(Answer answer)
        {
            try
            {
                return StructuredFields.ParseDictionary(answer.Header("content-digest")).TryGetValue("sha-256", out StructuredFields.Member digest) &&
                    digest.Item?.Value is byte[] expected && expected.SequenceEqual(Secure.Sha256(answer.Body));
            }
            catch (FormatException)
            {
                return false;
            }
        }
    }

    // VerifyKey.cs

    /// <summary>A public key of Ed25519 (RFC 8032), which .NET Standard does not have.</summary>
    internal sealed class VerifyKey
    {
        private readonly byte[] _bytes;
        /// <summary>Odd multiples of the negated point; null if the bytes are no point.</summary>
        private readonly Lazy<Ed25519.Point[]> _multiples;

        public VerifyKey(byte[] bytes)
        {
            _bytes = bytes;
            _multiples = new Lazy<Ed25519.Point[]>(() => Ed25519.Point.Decode(bytes)?.Negated().OddMultiples());
        }

        public bool Verify(byte[] message, byte[] signature) => Ed25519.Verify(_bytes, _multiples.Value, message, signature);
    }

    // Waiting.cs

    /// <summary>Waits for a task that others share.</summary>
    internal static class Waiting
    {
        /// <summary>No longer than until <paramref name="deadline"/>, a time of <see cref="Clock.NowMs"/>.</summary>
        public static async Task<T> ForAsync<T>(Task<T> shared, long deadline, CancellationToken cancellationToken)
        {
            using (var done = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken))
            {
                Task end = Task.Delay((int)Math.Max(0, deadline - Clock.NowMs), done.Token);
                if (await Task.WhenAny(shared, end).ConfigureAwait(false) != shared)
                {
                    Ignore(shared);
                    cancellationToken.ThrowIfCancellationRequested();
                    throw new KeywardNetworkException("timed_out", "No answer in time", false);
                }
                done.Cancel();
                return await shared.ConfigureAwait(false);
            }
        }

        /// <summary>Observes the error of an abandoned task, so that it is not raised as unobserved.</summary>
        public static void Ignore(Task task) =>
            task.ContinueWith(done => done.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
    }

    // WindowsRegistry.cs

    /// <summary>The registry of Windows, by the system's functions: Unity starts no programs such as <c>reg.exe</c>.</summary>
    internal static class WindowsRegistry
    {
        private static readonly IntPtr LocalMachine = new IntPtr(unchecked((int)0x80000002));
        private const int MayQuery = 1;
        private const int MayEnumerate = 8;
        private const int View64 = 0x100;
        private const int TypeText = 1;
        private const int NotFound = 2;
        private const int Denied = 5;
        private const int DeepestKey = 8;

        [DllImport("advapi32.dll", EntryPoint = "RegOpenKeyExW", CharSet = CharSet.Unicode)]
        private static extern int OpenKey(IntPtr parent, string path, int options, int access, out IntPtr key);
        [DllImport("advapi32.dll", EntryPoint = "RegQueryValueExW", CharSet = CharSet.Unicode)]
        private static extern int QueryValue(IntPtr key, string name, IntPtr reserved, out int type, byte[] value, ref int bytes);
        [DllImport("advapi32.dll", EntryPoint = "RegEnumKeyExW", CharSet = CharSet.Unicode)]
        private static extern int NameKey(IntPtr key, int index, byte[] name, ref int length, IntPtr reserved, IntPtr type, IntPtr typeLength, IntPtr written);
        [DllImport("advapi32.dll", EntryPoint = "RegCloseKey")]
        private static extern int CloseKey(IntPtr key);

        public static string Read(string property)
        {
            string value =
                property == "machine" ? ReadText("SOFTWARE\\Microsoft\\Cryptography", "MachineGuid") :
                property == "board" ? ReadText("SYSTEM\\HardwareConfig", "LastConfig") :
                FindText("HARDWARE\\DEVICEMAP\\Scsi", "SerialNumber", 0);
            // The id of earlier versions ended at white space.
            if (property == "machine" && value != null) value = Regex.Match(value, "\\S*", RegexOptions.CultureInvariant).Value;
            return value ?? throw new Machine.AbsentException();
        }

        /// <summary>Null if there is no such text, or if this user may not read it.</summary>
        private static string ReadText(string path, string name)
        {
            int opened = OpenKey(LocalMachine, path, 0, MayQuery | View64, out IntPtr key);
            if (opened == NotFound || opened == Denied) return null;
            if (opened != 0) throw new IOException("The registry cannot be read: " + Text.Of(opened));
            try
            {
                var value = new byte[2048];
                int bytes = value.Length;
                int read = QueryValue(key, name, IntPtr.Zero, out int type, value, ref bytes);
                if (read == NotFound || read == Denied) return null;
                if (read != 0) throw new IOException("The registry cannot be read: " + Text.Of(read));
                return type == TypeText ? ToText(value, bytes / 2) : null;
            }
            finally
            {
                CloseKey(key);
            }
        }

        /// <summary>The first text of this name below a key, in the order of the registry.</summary>
        private static string FindText(string path, string name, int depth)
        {
            string own = ReadText(path, name);
            if (own != null && Text.Trim(own) != "") return own;
            return depth > DeepestKey ? null : KeysOf(path).Select(key => FindText(path + "\\" + key, name, depth + 1)).FirstOrDefault(found => found != null);
        }

        private static List<string> KeysOf(string path)
        {
            var names = new List<string>();
            if (OpenKey(LocalMachine, path, 0, MayEnumerate | View64, out IntPtr key) != 0) return names;
            try
            {
                var name = new byte[512];
                for (int index = 0; index < 256; index++)
                {
                    int length = name.Length / 2;
                    if (NameKey(key, index, name, ref length, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero) != 0) break;
                    names.Add(ToText(name, length));
                }
                return names;
            }
            finally
            {
                CloseKey(key);
            }
        }

        private static string ToText(byte[] utf16, int length) => Encoding.Unicode.GetString(utf16, 0, length * 2).Split('\0')[0];
    }
}
