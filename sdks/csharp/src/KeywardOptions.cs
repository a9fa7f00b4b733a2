using System;
using System.Net.Http;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>How a program reaches and verifies its Keyward server.</summary>
    public sealed class KeywardOptions
    {
        /// <summary>The server's public address without <c>/api</c>, for example <c>https://licenses.example.com</c>.</summary>
        public string BaseUrl { get; set; }

        /// <summary>The app's 8-character identifier.</summary>
        public string AppId { get; set; }

        /// <summary>The app's 32-character secret.</summary>
        public string Secret { get; set; }

        /// <summary>
        /// The app's public keys: an array of <see cref="PublicJwk"/>, one of them, or the JSON text of
        /// <c>GET /api/client/apps/{appId}/keys</c> or its <c>keys</c>. Embed them in the program: keys fetched at run time
        /// prove nothing.
        /// </summary>
        public PublicKeySet PublicKeys { get; set; }

        /// <summary>The program's version, compared with the app's version on the server; 1 to 32 characters.</summary>
        public string Version { get; set; }

        /// <summary>The hash of the program's build, for apps that check it; up to 256 characters.</summary>
        public string Hash { get; set; }

        /// <summary>The language of <see cref="KeywardResult.Message"/>, as a BCP 47 tag such as <c>de-AT</c>; up to 35 characters.</summary>
        public string Locale { get; set; }

        /// <summary>
        /// A hardware id of your own, 1 to 256 characters, a function that returns one, or <see cref="HardwareId.None"/>. Default: a
        /// salted hash of the machine's own id.
        /// </summary>
        public HardwareId Hwid { get; set; } = HardwareId.Default;

        /// <summary>
        /// Whether to send the machine's name, its system and salted hashes of its parts with the hardware id, by which the server
        /// recognizes a machine that changed. Default: true, but false with a hardware id of your own.
        /// </summary>
        public bool? Device { get; set; }

        /// <summary>
        /// Lets the program run without the server, and stay signed in: <see cref="KeywardStorage.UserData"/>, or a place of your
        /// own. Default: none.
        /// </summary>
        public IKeywardStorage Storage { get; set; }

        /// <summary>Timeout of one call in milliseconds, including retries; 100 to 600000.</summary>
        public int TimeoutMs { get; set; } = 15000;

        /// <summary>
        /// An HTTP proxy, <c>http://[user:password@]host:port</c>. <c>https</c> addresses go through a tunnel. Default: the settings
        /// of the system.
        /// </summary>
        public string Proxy { get; set; }

        /// <summary>
        /// Called with an event for every attempt of a call, on a thread of the pool. Events never contain a secret, a key, a token, a
        /// hardware id or a body. What it throws is ignored.
        /// </summary>
        public Action<LogEvent> Log { get; set; }

        /// <summary>Replaces the handler that sends requests, for tests and other transports. It must not follow redirects or decompress.</summary>
        public HttpMessageHandler Handler { get; set; }
    }

    /// <summary>What the program sends as hardware id. A text converts by itself: <c>Hwid = "my-id"</c>.</summary>
    public sealed class HardwareId
    {
        /// <summary>A salted hash of the machine's own id.</summary>
        public static readonly HardwareId Default = new HardwareId(null);

        /// <summary>None is sent: users with a hardware lock are refused.</summary>
        public static readonly HardwareId None = new HardwareId(null);

        internal readonly Func<Task<string>> Find;
        /// <summary>Set for a text: it is checked at once.</summary>
        internal readonly string Text;
        internal readonly bool IsText;

        private HardwareId(Func<Task<string>> find) { Find = find; }
        private HardwareId(string text, bool isText) { Text = text; IsText = isText; }

        /// <summary>Calls a function when the id is needed, once; after a failure again. Its exceptions end as <c>hwid_unavailable</c>.</summary>
        public static HardwareId From(Func<string> find) =>
            find == null ? new HardwareId(null, true) : new HardwareId(() => Task.FromResult(find()));

        /// <summary>As <see cref="From"/>, for a function that waits.</summary>
        public static HardwareId FromAsync(Func<Task<string>> find) =>
            find == null ? new HardwareId(null, true) : new HardwareId(find);

        /// <summary>An id of your own. A null text is refused by the client's constructor.</summary>
        public static implicit operator HardwareId(string text) => new HardwareId(text, true);
    }
}
