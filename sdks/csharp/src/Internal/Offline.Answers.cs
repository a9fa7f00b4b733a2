using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;

namespace Keyward.Internal
{
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
            /// <summary>The time by which it was judged; null where nothing ends, which no clock concerns.</summary>
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
            user["features"] = Statement.FeaturesAt(lease.Features, lease.FeatureEnds, now);
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
            bool isEndless = activation.Expires == null;
            if (isEndless && activation.FeatureEnds.Count == 0) return new Found { Answer = activation.Answer(Time.Now()) };
            string problem = Judge(kept, activation.IssuedAt, activation.Expires ?? double.PositiveInfinity, TimeZoneTolerance, out double now);
            if (problem == null) return new Found { Answer = activation.Answer(now), Now = now };
            // A file without an end goes on, without the features that end.
            return isEndless ? new Found { Answer = activation.Answer(double.PositiveInfinity) } : Found.Not(problem);
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
}
