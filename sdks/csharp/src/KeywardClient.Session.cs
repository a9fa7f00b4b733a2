using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
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

        /// <summary>
        /// A call of the signed-in user; without one it is <c>sessionUnauthed</c>. One with a license key needs no user, so a session that
        /// has ended is opened again.
        /// </summary>
        private async Task<Dictionary<string, object>> SignedInAsync(Call call, string required, long deadline, CancellationToken cancellationToken)
        {
            for (bool reopen = call.Body != null && call.Body.ContainsKey("licenseKey"); ; reopen = false)
            {
                Opened opened = await OpenOnceAsync(deadline, cancellationToken).ConfigureAwait(false);
                if (opened.Session == null) return opened.Result.Json;
                call.Session = opened.Session;
                Outcome outcome = await _transport.SendAsync(call, deadline, cancellationToken).ConfigureAwait(false);
                if (outcome.Ok) return Granted(outcome, required);
                if (outcome.Code != LicenseState.SessionUnauthed || !reopen) return outcome.Refusal();
                EndSession(opened.Session);
            }
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
}
