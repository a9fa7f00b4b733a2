using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>Sends one request and reads the whole answer, whatever its status. Redirects are not followed: the signature covers the path.</summary>
    internal sealed class Http : IDisposable
    {
        private const int MaxConnections = 32;
        private static readonly string[] Used = { "signature", "signature-input", "content-digest", "content-type", "retry-after" };

        private readonly HttpClient _client;
        /// <summary>
        /// For calls that must not be repeated: some platforms send a request again by themselves if a connection that they kept turns
        /// out to be closed, and this client keeps none.
        /// </summary>
        private readonly HttpClient _once;
        private readonly ProxyAddress _proxy;
        private readonly bool _isOwnHandler;

        public Http(CheckedOptions options)
        {
            _proxy = options.Proxy;
            _isOwnHandler = options.Handler == null;
            _client = ToClient(options);
            _once = ToClient(options);
        }

        private static HttpClient ToClient(CheckedOptions options)
        {
            bool isTunnel = options.Proxy != null && options.Origin.Scheme == "https";
            HttpMessageHandler own = isTunnel ? new TunnelHandler(options.Proxy) : (HttpMessageHandler)ToHandler(options.Proxy);
            var client = options.Handler == null ? new HttpClient(own) : new HttpClient(options.Handler, false);
            client.Timeout = Timeout.InfiniteTimeSpan;
            return client;
        }

        private static HttpClientHandler ToHandler(ProxyAddress proxy)
        {
            // The digest covers the bytes on the wire, and no cookie of a stranger is kept.
            var handler = new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false, AutomaticDecompression = DecompressionMethods.None };
            // .NET Framework has two connections by default, for which further calls would wait.
            handler.MaxConnectionsPerServer = MaxConnections;
            if (proxy == null) return handler;
            handler.UseProxy = true;
            handler.Proxy = proxy;
            return handler;
        }

        /// <summary>For files of any size from any server. The tunnel reads no more than an answer.</summary>
        public static HttpClient ToFileClient(CheckedOptions options)
        {
            ProxyAddress proxy = options.Proxy;
            if (proxy != null && proxy.HasCredentials)
                proxy = new ProxyAddress { Address = proxy.Address, Credentials = new NetworkCredential(proxy.User, proxy.Password) };
            var client = options.Handler == null ? new HttpClient(ToHandler(proxy)) : new HttpClient(options.Handler, false);
            client.Timeout = Timeout.InfiniteTimeSpan;
            return client;
        }

        public void Dispose()
        {
            _client.Dispose();
            _once.Dispose();
        }

        public async Task<Answer> ExchangeAsync(SentRequest sent, int timeoutMs, CancellationToken cancellationToken)
        {
            var abort = new CancellationTokenSource();
            var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            // Some platforms resolve names and connect before they return.
            Task<Answer> receiving = Task.Run(() => ReceiveAsync(sent, abort.Token));
            Task timer = Task.Delay(timeoutMs, stop.Token);
            bool isDone = await Task.WhenAny(receiving, timer).ConfigureAwait(false) == receiving;
            if (isDone)
            {
                stop.Cancel();
                stop.Dispose();
                return await receiving.ConfigureAwait(false);
            }
            stop.Dispose();
            Waiting.Ignore(receiving);
            // On the pool, because a handler may block while it stops.
            Waiting.Ignore(Task.Run(() => abort.Cancel()));
            cancellationToken.ThrowIfCancellationRequested();
            throw new KeywardNetworkException("timed_out", "No answer from " + sent.Url + " in time", true);
        }

        private async Task<Answer> ReceiveAsync(SentRequest sent, CancellationToken abort)
        {
            try
            {
                using (HttpRequestMessage request = ToMessage(sent))
                using (HttpResponseMessage response = await (sent.Repeatable ? _client : _once)
                    .SendAsync(request, HttpCompletionOption.ResponseHeadersRead, abort).ConfigureAwait(false))
                using (abort.Register(response.Dispose))
                {
                    int status = (int)response.StatusCode;
                    if (status == 407 && _isOwnHandler) throw new KeywardNetworkException("unreachable", "The proxy answered 407", false, 407);
                    byte[] body = await ReadAsync(response, abort).ConfigureAwait(false);
                    return new Answer { Status = status, Headers = Used.ToDictionary(name => name, name => Joined(response, name)), Body = body };
                }
            }
            catch (Exception error) when (!(error is KeywardException))
            {
                throw ToNetworkException(error, sent.Url);
            }
        }

        private HttpRequestMessage ToMessage(SentRequest sent)
        {
            var request = new HttpRequestMessage(new HttpMethod(sent.Method), sent.Url) { Version = HttpVersion.Version11 };
            request.Headers.ExpectContinue = false;
            if (!sent.Repeatable) request.Headers.ConnectionClose = true;
            Add(request.Headers, "Accept", "application/json");
            Add(request.Headers, "Accept-Encoding", "identity");
            Add(request.Headers, "User-Agent", SdkVersion.Sdk);
            Add(request.Headers, "Keyward-Nonce", sent.Nonce);
            Add(request.Headers, "Keyward-Keys", sent.KeyIds);
            if (sent.Authorization != null)
            {
                Add(request.Headers, "Authorization", sent.Authorization);
                Add(request.Headers, "Keyward-App", sent.AppId);
            }
            // Through a tunnel this header would reach the server.
            if (_proxy != null && _proxy.HasCredentials && sent.Url.Scheme == "http")
                Add(request.Headers, "Proxy-Authorization", _proxy.Authorization);
            if (sent.Body != null)
            {
                request.Content = new ByteArrayContent(sent.Body);
                request.Content.Headers.TryAddWithoutValidation("Content-Type", "application/json");
                Add(request.Headers, "Content-Digest", sent.ContentDigest);
            }
            return request;
        }

        private static void Add(System.Net.Http.Headers.HttpRequestHeaders headers, string name, string value) =>
            headers.TryAddWithoutValidation(name, value);

        private static string Joined(HttpResponseMessage response, string name)
        {
            IEnumerable<string> values;
            if (response.Headers.TryGetValues(name, out values)) return string.Join(", ", values);
            return response.Content != null && response.Content.Headers.TryGetValues(name, out values) ? string.Join(", ", values) : "";
        }

        private static async Task<byte[]> ReadAsync(HttpResponseMessage response, CancellationToken abort)
        {
            if (response.Content == null) return new byte[0];
            using (Stream stream = await response.Content.ReadAsStreamAsync().ConfigureAwait(false))
            {
                byte[] body = await ReadAsync(stream, abort).ConfigureAwait(false);
                // Some platforms end the stream without an error if the connection breaks.
                if (body.Length <= Verification.MaxAnswerBytes && body.Length < (response.Content.Headers.ContentLength ?? 0)) throw new EndOfStreamException("The connection broke");
                return body;
            }
        }

        /// <summary>Stops somewhere beyond the length of a genuine answer.</summary>
        internal static async Task<byte[]> ReadAsync(Stream stream, CancellationToken abort)
        {
            var body = new MemoryStream();
            var chunk = new byte[16 * 1024];
            for (;;)
            {
                int length = await stream.ReadAsync(chunk, 0, chunk.Length, abort).ConfigureAwait(false);
                if (length <= 0) return body.ToArray();
                body.Write(chunk, 0, length);
                if (body.Length > Verification.MaxAnswerBytes) return body.ToArray();
            }
        }

        internal static KeywardNetworkException ToNetworkException(Exception error, Uri url)
        {
            KeywardNetworkException rejected = Certificates.ToError(error, url);
            if (rejected != null) return rejected;
            return IsNeverSent(error)
                ? new KeywardNetworkException("unreachable", "Cannot reach " + url + " (" + Deepest(error) + ")", false, cause: error)
                : new KeywardNetworkException("connection_lost", "The connection to " + url + " broke (" + Deepest(error) + ")", true, cause: error);
        }

        private static string Deepest(Exception error)
        {
            while (error.InnerException != null) error = error.InnerException;
            return error.Message;
        }

        /// <summary>Whether the error happened before a connection was established, so that the server cannot have received the request.</summary>
        private static bool IsNeverSent(Exception error)
        {
            for (Exception each = error; each != null; each = each.InnerException)
            {
                if (each is WebException web)
                {
                    if (web.Status == WebExceptionStatus.ConnectFailure || web.Status == WebExceptionStatus.NameResolutionFailure ||
                        web.Status == WebExceptionStatus.ProxyNameResolutionFailure || web.Status == WebExceptionStatus.TrustFailure ||
                        web.Status == WebExceptionStatus.SecureChannelFailure) return true;
                }
                if (each is AuthenticationException) return true;
                if (each is SocketException socket && IsNeverSent(socket.SocketErrorCode)) return true;
            }
            return false;
        }

        private static bool IsNeverSent(SocketError code)
        {
            switch (code)
            {
                case SocketError.ConnectionRefused:
                case SocketError.HostNotFound:
                case SocketError.TryAgain:
                case SocketError.NoRecovery:
                case SocketError.NoData:
                case SocketError.HostUnreachable:
                case SocketError.NetworkUnreachable:
                case SocketError.AddressNotAvailable:
                    return true;
                default:
                    return false;
            }
        }
    }
}
