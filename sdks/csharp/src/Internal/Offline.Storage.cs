using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;

namespace Keyward.Internal
{
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
}
