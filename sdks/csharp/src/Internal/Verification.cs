using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>Verifies that an answer is genuine, complete and meant for exactly this request.</summary>
    internal static class Verification
    {
        private const string Label = "keyward";
        /// <summary>No genuine answer is larger; reading stops beyond.</summary>
        public const int MaxAnswerBytes = 256 * 1024;

        /// <summary>The value of <c>Content-Digest</c> (RFC 9530) for a body.</summary>
        public static string DigestOf(byte[] body) => "sha-256=:" + Convert.ToBase64String(Secure.Sha256(body)) + ":";

        /// <summary>
        /// Classifies an answer as a verdict (false), or as unavailable (429 and 5xx, signed or not). Throws
        /// <see cref="KeywardNetworkException"/> for any other answer without a signature, and <see cref="KeywardSignatureException"/> for
        /// one whose signature fails. <paramref name="created"/> is when the server signed it, in seconds since 1970; -1 without a signature.
        /// </summary>
        public static bool IsUnavailable(SentRequest sent, Answer answer, KeyRing keys, out long created)
        {
            created = -1;
            bool unavailable = answer.Status == 429 || answer.Status >= 500;
            bool signed = IsSigned(answer);
            if (!signed && (!unavailable || answer.Status == 511)) throw ToStranger(answer);
            if (signed) created = Verify(sent, answer, keys);
            return unavailable;
        }

        /// <summary>
        /// Explains an unsigned answer: a captive portal, another site, a missing app, or something on the way. Anyone on the network can
        /// send these, as they can drop the request, so they are never a verdict.
        /// </summary>
        private static KeywardNetworkException ToStranger(Answer answer)
        {
            int status = answer.Status;
            if (IsPage(answer.Header("content-type")) || status == 511 || (status >= 300 && status < 400))
                return new KeywardNetworkException("captive_portal", "A web page answered: a captive portal, or BaseUrl is the address of another site", true, status);
            if (status == 404 || status == 405)
                return new KeywardNetworkException("wrong_address", "No Keyward server answers at BaseUrl (status " + Text.Of(status) + ")", false, status);
            if (status == 403 && JsonText.TryParse(Text.FromUtf8(answer.Body), out object body) &&
                body is Dictionary<string, object> refusal && JsonText.Text(refusal, "code") == LicenseState.AppDisabled)
                return new KeywardNetworkException("unknown_app", "The server has no app with this AppId", false, status);
            return new KeywardNetworkException("blocked", "A firewall, a proxy or another server answered in place of the server (status " + Text.Of(status) + ")", true, status);
        }

        private static bool IsPage(string contentType)
        {
            foreach (string page in new[] { "text/html", "application/xhtml+xml" })
            {
                if (!contentType.StartsWith(page, StringComparison.OrdinalIgnoreCase)) continue;
                if (contentType.Length == page.Length || !Text.IsWord(contentType[page.Length])) return true;
            }
            return false;
        }

        /// <summary>Whether an answer has a signature with the protocol's label, valid or not.</summary>
        public static bool IsSigned(Answer answer)
        {
            foreach (string name in new[] { "signature", "signature-input" })
            {
                string value = answer.Header(name);
                if (value == "") continue;
                try
                {
                    if (StructuredFields.ParseDictionary(value).ContainsKey(Label)) return true;
                }
                catch (FormatException)
                {
                    // Malformed is not absent: the verification reports what is wrong.
                    return true;
                }
            }
            return false;
        }

        /// <summary>The components that an answer must cover, in the protocol's order, with the expected values.</summary>
        private static List<KeyValuePair<string, string>> Expected(SentRequest sent, Answer answer)
        {
            var components = new List<KeyValuePair<string, string>>();
            Action<string, string> cover = (name, value) => components.Add(new KeyValuePair<string, string>(name, value));
            cover("\"@status\"", Text.Of(answer.Status));
            cover("\"content-digest\"", answer.Header("content-digest"));
            cover("\"@method\";req", sent.Method);
            cover("\"@path\";req", sent.Path);
            cover("\"keyward-nonce\";req", sent.Nonce);
            if (sent.Authorization != null) cover("\"authorization\";req", sent.Authorization);
            if (sent.ContentDigest != null) cover("\"content-digest\";req", sent.ContentDigest);
            return components;
        }

        /// <summary>The text that the server signed (RFC 9421, section 2.5).</summary>
        public static string SignatureBase(SentRequest sent, Answer answer, long created, string keyId)
        {
            List<KeyValuePair<string, string>> components = Expected(sent, answer);
            var text = new StringBuilder();
            foreach (KeyValuePair<string, string> each in components) text.Append(each.Key).Append(": ").Append(each.Value).Append('\n');
            text.Append("\"@signature-params\": (").Append(string.Join(" ", components.Select(each => each.Key))).Append(");created=")
                .Append(created.ToString(CultureInfo.InvariantCulture)).Append(";keyid=").Append(StructuredFields.Quote(keyId)).Append(";alg=\"ed25519\"");
            return text.ToString();
        }

        private static long Verify(SentRequest sent, Answer answer, KeyRing keys)
        {
            Func<string, string, KeywardSignatureException> refused = (code, message) =>
                new KeywardSignatureException(code, message + " (" + sent.Method + " " + sent.Path + ")", answer.Status);
            Func<string, StructuredFields.Member> member = name =>
            {
                try
                {
                    StructuredFields.ParseDictionary(answer.Header(name)).TryGetValue(Label, out StructuredFields.Member found);
                    return found;
                }
                catch (FormatException error)
                {
                    throw refused("malformed_signature", name + ": " + error.Message);
                }
            };

            if (answer.Body.Length > MaxAnswerBytes) throw refused("body_too_large", "The answer is larger than " + Text.Of(MaxAnswerBytes) + " bytes");
            StructuredFields.Member input = member("signature-input");
            StructuredFields.Member signature = member("signature");
            if (input?.Items == null || !(signature?.Item?.Value is byte[] bytes)) throw refused("malformed_signature", "The signature is incomplete");
            if (bytes.Length != 64 || signature.Params.Count > 0) throw refused("malformed_signature", "The signature is not one of Ed25519");

            List<string> expected = Expected(sent, answer).Select(each => each.Key).ToList();
            if (!input.Items.Select(ComponentName).SequenceEqual(expected, StringComparer.Ordinal))
                throw refused("wrong_coverage", "The signature must cover " + string.Join(" ", expected));
            if (!TryReadParameters(input, out long created, out string keyId)) throw refused("wrong_parameters", "The signature has other parameters");
            VerifyKey key = keys.Find(keyId);
            if (key == null) throw refused("unknown_key", "Signed with the unknown key " + keyId);
            if (!DigestMatches(answer)) throw refused("digest_mismatch", "The body does not match its Content-Digest");
            if (!key.Verify(Text.ToUtf8(SignatureBase(sent, answer, created, keyId)), bytes))
                throw refused("bad_signature", "The signature is not of this answer to this request");
            return created;
        }

        private static string ComponentName(StructuredFields.Item item)
        {
            if (!(item.Value is string name)) return "";
            return StructuredFields.Quote(name) + string.Concat(item.Params.Select(each => true.Equals(each.Value) ? ";" + each.Key : ";" + each.Key + "=?"));
        }

        internal static bool TryReadParameters(StructuredFields.Member input, out long created, out string keyId)
        {
            created = -1;
            keyId = null;
            if (string.Join(",", input.Params.Select(each => each.Key)) != "created,keyid,alg") return false;
            if (!(input.Params[0].Value is long seconds) || seconds < 0) return false;
            if (!(input.Params[1].Value is string name) || !(input.Params[2].Value is string alg) || alg != "ed25519") return false;
            created = seconds;
            keyId = name;
            return true;
        }

        private static bool DigestMatches(Answer answer)
        {
            try
            {
                return StructuredFields.ParseDictionary(answer.Header("content-digest")).TryGetValue("sha-256", out StructuredFields.Member digest) &&
                    digest.Item?.Value is byte[] expected && expected.SequenceEqual(Secure.Sha256(answer.Body));
            }
            catch (FormatException)
            {
                return false;
            }
        }
    }
}
