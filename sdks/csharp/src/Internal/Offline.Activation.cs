using System;
using System.IO;
using System.Threading.Tasks;

namespace Keyward.Internal
{
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
}
