#define TRACE

using System;
using System.Diagnostics;
using System.Linq;
using System.Net.Http;

namespace Keyward.Internal
{
    internal sealed class CheckedOptions
    {
        public Uri Origin;
        /// <summary>Path of the public URL, percent-encoded, without a trailing slash.</summary>
        public string Prefix;
        public string AppId;
        public string Secret;
        public KeyRing Keys;
        public string Version;
        public string Hash;
        public string Locale;
        public HardwareId Hwid;
        public bool Device;
        public Offline Offline;
        public int TimeoutMs;
        public ProxyAddress Proxy;
        public Action<LogEvent> Log;
        public HttpMessageHandler Handler;

        /// <summary>Throws <c>invalid_options</c> that names the first invalid one.</summary>
        public static CheckedOptions From(KeywardOptions options)
        {
            if (options == null) throw Wrong("Expected options");
            HardwareId hwid = options.Hwid;
            if (hwid == null) throw Wrong("Hwid is null: HardwareId.None sends none");
            if (options.TimeoutMs < 100 || options.TimeoutMs > 600000) throw Wrong("TimeoutMs must be 100 to 600000");
            if (hwid.IsText) Limited("Hwid", hwid.Text, 256);
            if (options.Proxy != null && options.Handler != null) throw Wrong("Pass either Proxy or Handler");
            Uri address = ToAddress(options.BaseUrl);
            KeyRing keys = KeyRing.From(options.PublicKeys);
            var result = new CheckedOptions
            {
                Origin = new Uri(address.GetLeftPart(UriPartial.Authority)),
                Prefix = address.AbsolutePath.TrimEnd('/'),
                AppId = Limited("AppId", options.AppId, 64),
                Secret = Limited("Secret", options.Secret, 128),
                Keys = keys,
                Version = Limited("Version", options.Version, 32),
                Hash = options.Hash == null ? null : Limited("Hash", options.Hash, 256),
                Locale = options.Locale == null ? null : Limited("Locale", options.Locale, 35),
                Hwid = hwid,
                Device = options.Device ?? ReferenceEquals(hwid, HardwareId.Default),
                TimeoutMs = options.TimeoutMs,
                Proxy = options.Proxy == null ? null : ProxyAddress.From(options.Proxy),
                Log = ToLog(options.Log),
                Handler = options.Handler,
            };
            // It is sent as a header.
            if (result.AppId.Any(each => each < ' ' || each > '~')) throw Wrong("AppId has characters that no app id has");
            if (options.Storage != null)
            {
                IKeywardStorage place = ReferenceEquals(options.Storage, KeywardStorage.UserData) ? FileStorage.OfApp(result.AppId) : options.Storage;
                result.Offline = new Offline(place, result.AppId, keys);
            }
            return result;
        }

        private static string Limited(string name, string value, int max)
        {
            if (value != null && value.Length >= 1 && value.Length <= max) return value;
            throw Wrong(name + " must be a text of 1 to " + max + " characters");
        }

        private static Uri ToAddress(string baseUrl)
        {
            if (!Uri.TryCreate(Limited("BaseUrl", baseUrl, 2048), UriKind.Absolute, out Uri address)) throw Wrong("BaseUrl is not an address");
            if (address.Scheme != "https" && address.Scheme != "http") throw Wrong("BaseUrl must be http or https");
            if (address.UserInfo != "") throw Wrong("BaseUrl must not carry a user or a password");
            if (address.Query.Length > 1 || address.Fragment.Length > 1) throw Wrong("BaseUrl must not have a query or a fragment");
            if (address.Host == "") throw Wrong("BaseUrl has no host");
            // Signatures protect verdicts over plain HTTP, but passwords are sent in clear text.
            if (address.Scheme == "http" && !address.IsLoopback && !address.Host.EndsWith(".localhost", StringComparison.OrdinalIgnoreCase))
                Trace.TraceWarning("KEYWARD_PLAIN_HTTP: " + address.GetLeftPart(UriPartial.Authority) + " is not encrypted: passwords and keys can be read on the way");
            return address;
        }

        /// <summary>A hook must not change the result of a call, whatever it does.</summary>
        private static Action<LogEvent> ToLog(Action<LogEvent> log)
        {
            if (log == null) return each => { };
            return each =>
            {
                try
                {
                    log(each);
                }
                catch (Exception)
                {
                }
            };
        }

        public static KeywardUsageException Wrong(string message) => new KeywardUsageException("invalid_options", message);
    }
}
