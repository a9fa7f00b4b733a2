using System;
using Keyward.Internal;

namespace Keyward
{
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
}
