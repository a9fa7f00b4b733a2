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
}
