using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
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
}
