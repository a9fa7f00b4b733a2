using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>
    /// Sends <c>https</c> requests through an HTTP proxy, each on a connection of its own. The handlers of the platforms do not say
    /// whether the proxy refused the tunnel or the server answered.
    /// </summary>
    internal sealed class TunnelHandler : HttpMessageHandler
    {
        private const int MaxHeadBytes = 16 * 1024;
        /// <summary>More than any answer that is read to its end.</summary>
        private const int MaxBodyBytes = 300 * 1024;

        private readonly ProxyAddress _proxy;

        public TunnelHandler(ProxyAddress proxy) { _proxy = proxy; }

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            Uri url = request.RequestUri;
            TcpClient tcp = await ConnectAsync(url).ConfigureAwait(false);
            using (tcp)
            using (cancellationToken.Register(tcp.Dispose))
            using (SslStream stream = await OpenAsync(tcp, url).ConfigureAwait(false))
            {
                var head = new StringBuilder(request.Method.Method + " " + url.PathAndQuery + " HTTP/1.1\r\nHost: " + HostOf(url) + (url.IsDefaultPort ? "" : ":" + Text.Of(url.Port)) + "\r\nConnection: close\r\n");
                byte[] body = request.Content == null ? new byte[0] : await request.Content.ReadAsByteArrayAsync().ConfigureAwait(false);
                if (request.Method.Method != "GET") head.Append("Content-Length: ").Append(Text.Of(body.Length)).Append("\r\n");
                IEnumerable<KeyValuePair<string, IEnumerable<string>>> headers = request.Headers;
                if (request.Content != null) headers = headers.Concat(request.Content.Headers);
                foreach (KeyValuePair<string, IEnumerable<string>> each in headers)
                    if (each.Key != "Connection" && each.Key != "Content-Length") head.Append(each.Key).Append(": ").Append(string.Join(", ", each.Value)).Append("\r\n");
                await WriteAsync(stream, Encoding.ASCII.GetBytes(head.Append("\r\n").ToString()).Concat(body).ToArray()).ConfigureAwait(false);
                return await ReceiveAsync(stream).ConfigureAwait(false);
            }
        }

        private string Name => _proxy.Address.Authority;

        private static string HostOf(Uri url) => url.HostNameType == UriHostNameType.IPv6 ? url.Host : url.IdnHost;

        private KeywardNetworkException Unreachable(string message, int? status, Exception cause) =>
            new KeywardNetworkException("unreachable", message, false, status, cause: cause);

        private async Task<TcpClient> ConnectAsync(Uri url)
        {
            Exception failure = null;
            try
            {
                foreach (IPAddress address in await Dns.GetHostAddressesAsync(_proxy.Address.DnsSafeHost).ConfigureAwait(false))
                {
                    var tcp = new TcpClient(address.AddressFamily);
                    try
                    {
                        await tcp.ConnectAsync(address, _proxy.Address.Port).ConfigureAwait(false);
                        return tcp;
                    }
                    catch (SocketException error)
                    {
                        tcp.Dispose();
                        failure = error;
                    }
                }
            }
            catch (SocketException error)
            {
                failure = error;
            }
            throw Unreachable("Cannot reach " + url.Authority + ": the proxy at " + Name + " cannot be reached", null, failure);
        }

        /// <summary>Nothing was sent to the server before the tunnel and its encryption are there.</summary>
        private async Task<SslStream> OpenAsync(TcpClient tcp, Uri url)
        {
            try
            {
                NetworkStream stream = tcp.GetStream();
                string authority = HostOf(url) + ":" + Text.Of(url.Port);
                string credentials = _proxy.HasCredentials ? "Proxy-Authorization: " + _proxy.Authorization + "\r\n" : "";
                await WriteAsync(stream, Encoding.ASCII.GetBytes("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nUser-Agent: " + SdkVersion.Sdk + "\r\n" + credentials + "\r\n")).ConfigureAwait(false);
                int status = StatusOf((await ReadHeadAsync(stream).ConfigureAwait(false))[0]);
                if (status < 200 || status > 299) throw Unreachable("The proxy at " + Name + " answered " + Text.Of(status), status, null);
                // No setting of the program turns the verification off.
                var ssl = new SslStream(stream, false, (sender, certificate, chain, errors) => errors == SslPolicyErrors.None);
                await ssl.AuthenticateAsClientAsync(url.IdnHost, null, SslProtocols.None, false).ConfigureAwait(false);
                return ssl;
            }
            catch (Exception error) when (!(error is KeywardException))
            {
                KeywardNetworkException rejected = Certificates.ToError(error, url);
                if (rejected != null) throw rejected;
                throw Unreachable("The proxy at " + Name + " opened no tunnel to " + url.Authority, null, error);
            }
        }

        private static Task WriteAsync(Stream stream, byte[] bytes) => stream.WriteAsync(bytes, 0, bytes.Length);

        private static int StatusOf(string line)
        {
            Match match = Regex.Match(line, "^HTTP/1\\.[01] ([0-9]{3})(?: |$)", RegexOptions.CultureInvariant);
            return match.Success ? int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture) : throw new IOException("What answers speaks no HTTP");
        }

        /// <summary>Byte by byte, so that what follows stays in the stream.</summary>
        private static async Task<string> ReadLineAsync(Stream stream, int max)
        {
            var line = new StringBuilder();
            var one = new byte[1];
            while (line.Length < max)
            {
                if (await stream.ReadAsync(one, 0, 1).ConfigureAwait(false) != 1) throw new EndOfStreamException("The connection broke");
                if (one[0] != '\n') line.Append((char)one[0]);
                else return line.ToString().TrimEnd('\r');
            }
            throw new IOException("A line is too long");
        }

        private static async Task<List<string>> ReadHeadAsync(Stream stream)
        {
            var lines = new List<string>();
            for (int left = MaxHeadBytes; ; left -= lines[lines.Count - 1].Length + 1)
            {
                string line = await ReadLineAsync(stream, left).ConfigureAwait(false);
                if (line == "" && lines.Count > 0) return lines;
                lines.Add(line);
            }
        }

        private static async Task<HttpResponseMessage> ReceiveAsync(Stream stream)
        {
            List<string> head;
            do head = await ReadHeadAsync(stream).ConfigureAwait(false);
            while (StatusOf(head[0]) < 200);
            var response = new HttpResponseMessage((HttpStatusCode)StatusOf(head[0])) { Content = new ByteArrayContent(new byte[0]) };
            bool isChunked = false;
            long? length = null;
            var content = new List<KeyValuePair<string, string>>();
            foreach (string line in head.Skip(1))
            {
                int colon = line.IndexOf(':');
                if (colon < 1) throw new IOException("A header is broken");
                string name = line.Substring(0, colon);
                string value = line.Substring(colon + 1).Trim(' ', '\t');
                if (name.Equals("Transfer-Encoding", StringComparison.OrdinalIgnoreCase)) isChunked = value.Equals("chunked", StringComparison.OrdinalIgnoreCase) ? true : throw new IOException("An unknown coding");
                else if (name.Equals("Content-Length", StringComparison.OrdinalIgnoreCase)) length = value.Length < 16 && value.All(char.IsDigit) && value != "" ? long.Parse(value, CultureInfo.InvariantCulture) : throw new IOException("A length is broken");
                else if (!response.Headers.TryAddWithoutValidation(name, value)) content.Add(new KeyValuePair<string, string>(name, value));
            }
            int status = (int)response.StatusCode;
            bool isEmpty = status == 204 || status == 304;
            response.Content = new ByteArrayContent(isEmpty ? new byte[0] : isChunked ? await ReadChunksAsync(stream).ConfigureAwait(false) : await ReadBodyAsync(stream, length).ConfigureAwait(false));
            foreach (KeyValuePair<string, string> each in content) response.Content.Headers.TryAddWithoutValidation(each.Key, each.Value);
            return response;
        }

        private static async Task<byte[]> ReadChunksAsync(Stream stream)
        {
            var body = new MemoryStream();
            for (;;)
            {
                string size = (await ReadLineAsync(stream, 64).ConfigureAwait(false)).Split(';')[0].Trim();
                if (!int.TryParse(size, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out int length) || length < 0) throw new IOException("A chunk is broken");
                if (length == 0) return body.ToArray();
                byte[] chunk = await ReadBodyAsync(stream, length).ConfigureAwait(false);
                body.Write(chunk, 0, chunk.Length);
                if (body.Length >= MaxBodyBytes) return body.ToArray();
                if (await ReadLineAsync(stream, 3).ConfigureAwait(false) != "") throw new IOException("A chunk is broken");
            }
        }

        /// <summary>Without a length, to the end of the connection. Stops where no genuine answer goes on.</summary>
        private static async Task<byte[]> ReadBodyAsync(Stream stream, long? length)
        {
            var body = new MemoryStream();
            var buffer = new byte[16 * 1024];
            while (body.Length < Math.Min(length ?? long.MaxValue, MaxBodyBytes))
            {
                int wanted = (int)Math.Min(buffer.Length, (length ?? long.MaxValue) - body.Length);
                int read = await stream.ReadAsync(buffer, 0, wanted).ConfigureAwait(false);
                if (read <= 0 && length != null) throw new EndOfStreamException("The connection broke");
                if (read <= 0) break;
                body.Write(buffer, 0, read);
            }
            return body.ToArray();
        }
    }
}
