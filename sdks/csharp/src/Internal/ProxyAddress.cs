using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>An HTTP proxy, as the option names it. Messages do not repeat the option, which may contain a password.</summary>
    internal sealed class ProxyAddress : IWebProxy
    {
        /// <summary>Not used: <see cref="Authorization"/> is sent without being asked for.</summary>
        public ICredentials Credentials { get; set; }

        public Uri GetProxy(Uri destination) => Address;

        /// <summary>The class of the framework leaves out addresses of this machine.</summary>
        public bool IsBypassed(Uri host) => false;

        public Uri Address;
        public string User;
        public string Password;

        public static ProxyAddress From(string proxy)
        {
            var wrong = CheckedOptions.Wrong("Proxy must be an address such as http://user:password@host:port");
            if (proxy.Length > 2048 || !Uri.TryCreate(proxy, UriKind.Absolute, out Uri address)) throw wrong;
            if (address.Scheme != "http" || address.Host == "" || address.PathAndQuery != "/" || address.Fragment != "") throw wrong;
            // As typed: Uri repairs broken escapes.
            string authority = proxy.Substring(proxy.IndexOf("//", StringComparison.Ordinal) + 2).Split('/')[0];
            string credentials = authority.Substring(0, Math.Max(authority.LastIndexOf('@'), 0));
            int colon = credentials.IndexOf(':');
            string user = Decoded(colon < 0 ? credentials : credentials.Substring(0, colon));
            string password = colon < 0 ? "" : Decoded(credentials.Substring(colon + 1));
            if (user == null || password == null || user.Contains(":") || (user + password).Any(char.IsControl)) throw wrong;
            return new ProxyAddress { Address = new Uri("http://" + address.Authority), User = user, Password = password };
        }

        public bool HasCredentials => User != "" || Password != "";

        /// <summary>The value of <c>Proxy-Authorization</c>.</summary>
        public string Authorization => "Basic " + Convert.ToBase64String(Internal.Text.ToUtf8(User + ":" + Password));

        /// <summary>Without percent-encoding; null if that is broken.</summary>
        private static string Decoded(string text)
        {
            var bytes = new MemoryStream();
            for (int at = 0; at < text.Length; at++)
            {
                bool isPair = char.IsHighSurrogate(text[at]) && at + 1 < text.Length;
                byte[] plain = Internal.Text.ToUtf8(text.Substring(at, isPair ? 2 : 1));
                if (isPair) at++;
                if (text[at] == '%')
                {
                    if (at + 2 >= text.Length || !byte.TryParse(text.Substring(at + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out byte value)) return null;
                    plain = new[] { value };
                    at += 2;
                }
                bytes.Write(plain, 0, plain.Length);
            }
            try
            {
                return new UTF8Encoding(false, true).GetString(bytes.ToArray());
            }
            catch (ArgumentException)
            {
                return null;
            }
        }
    }
}
