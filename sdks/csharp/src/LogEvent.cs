using Keyward.Internal;

namespace Keyward
{
    /// <summary>An event for <see cref="KeywardOptions.Log"/>.</summary>
    public sealed class LogEvent
    {
        /// <summary>
        /// Each attempt is a <c>request</c>, and then one of: <c>response</c>, a genuine answer; <c>retry</c>, an error after which
        /// the call is repeated; <c>failed</c>, an error that the program gets. <c>offline</c>: a lease or an activation answered.
        /// </summary>
        public string Event { get; internal set; }
        /// <summary>The call of the protocol, such as <c>license</c> or <c>init</c>.</summary>
        public string Call { get; internal set; }
        /// <summary>From 1; not with <c>offline</c>.</summary>
        public int? Attempt { get; internal set; }
        /// <summary>The HTTP status, if there was an answer.</summary>
        public int? Status { get; internal set; }
        /// <summary>The code of the refusal or of the error.</summary>
        public string Code { get; internal set; }
        /// <summary>Names the refusal, for the console.</summary>
        public string Reference { get; internal set; }
        /// <summary>How long the attempt took, in milliseconds.</summary>
        public long? DurationMs { get; internal set; }
        /// <summary>The pause before the next attempt, in milliseconds.</summary>
        public long? DelayMs { get; internal set; }
    }
}
