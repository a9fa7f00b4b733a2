using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
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
}
