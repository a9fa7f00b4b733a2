using System;
using System.Collections.Generic;
using System.IO;

namespace Keyward.Internal
{
    /// <summary>A request, and what of it the signature of the answer must cover.</summary>
    internal sealed class SentRequest
    {
        public Uri Url;
        public string Method;
        /// <summary>Path of the public URL, percent-encoded as sent, without the query.</summary>
        public string Path;
        public string Nonce;
        public string Authorization;
        public string ContentDigest;
        public byte[] Body;
        public bool Repeatable;
        public string AppId;
        public string KeyIds;

        public static SentRequest From(Call call, CheckedOptions options)
        {
            var url = new Uri(options.Origin, options.Prefix + "/api/client/" + call.Name);
            var sent = new SentRequest
            {
                Url = url,
                Method = call.Method,
                Path = url.AbsolutePath,
                Nonce = Bytes.ToBase64Url(Secure.Random(24)),
                Repeatable = call.Repeatable,
                KeyIds = string.Join(",", options.Keys.Ids),
            };
            if (call.Session != null)
            {
                sent.Authorization = "Bearer " + call.Session;
                sent.AppId = options.AppId;
            }
            if (call.Body != null)
            {
                sent.Body = Text.ToUtf8(JsonText.Write(call.Body));
                sent.ContentDigest = Verification.DigestOf(sent.Body);
            }
            return sent;
        }
    }

    /// <summary>An answer before it is trusted.</summary>
    internal sealed class Answer
    {
        public int Status;
        public byte[] Body;
        /// <summary>By name in lower case; the values of a repeated name are joined.</summary>
        public Dictionary<string, string> Headers;

        /// <summary>Without the white space around it; empty if it is not there.</summary>
        public string Header(string name) => Headers.TryGetValue(name, out string value) ? Text.Trim(value) : "";
    }
}
