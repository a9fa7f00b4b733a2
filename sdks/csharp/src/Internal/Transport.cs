using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
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
}
