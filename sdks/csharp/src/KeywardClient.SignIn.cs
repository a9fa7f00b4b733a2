using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
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
}
