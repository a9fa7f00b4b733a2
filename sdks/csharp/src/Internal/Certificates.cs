using System;
using System.Net;

namespace Keyward.Internal
{
    /// <summary>What the platforms say about a certificate that they reject, before anything of the request is sent.</summary>
    internal static class Certificates
    {
        /// <summary>November 2026, in seconds since 1970.</summary>
        private const double MadeAt = 1793491200;

        public static KeywardNetworkException ToError(Exception error, Uri url) => ToError(error, url, Clock.UnixSeconds);

        /// <summary>Null if the error says something else.</summary>
        public static KeywardNetworkException ToError(Exception error, Uri url, double now)
        {
            string reason = null;
            for (Exception each = error; each != null; each = each.InnerException)
            {
                bool isTrust = each is WebException web && web.Status == WebExceptionStatus.TrustFailure;
                string text = each.Message;
                // .NET, .NET Framework and Mono, in this order; only .NET says more.
                if (isTrust || Says(text, "remote certificate") || Says(text, "certificate is invalid") || Says(text, "CERTIFICATE_VERIFY_FAILED"))
                    reason = text.Split('\n')[0].Trim();
            }
            if (reason == null) return null;
            string certificate = "The certificate of " + url.GetLeftPart(UriPartial.Authority);
            // Most platforms do not say that a certificate is not valid yet, but before this version was made no clock was right.
            if (Says(reason, "not yet valid") || now < MadeAt)
                return Of("clock", certificate + " is not valid yet (" + reason + "). Set the date and time of this computer, then try again.", error);
            return Of("certificate", certificate + (Says(reason, "NotTimeValid") || Says(reason, "expired")
                ? " has expired (" + reason + "). Check the date and time of this computer; if they are right, tell the vendor of this program."
                : " is not trusted (" + reason + "). A proxy, a virus scanner or another network may be in between; if not, tell the vendor of this program."), error);
        }

        private static bool Says(string text, string words) => text.IndexOf(words, StringComparison.OrdinalIgnoreCase) >= 0;

        private static KeywardNetworkException Of(string code, string message, Exception cause) =>
            new KeywardNetworkException(code, message, false, cause: cause);
    }
}
