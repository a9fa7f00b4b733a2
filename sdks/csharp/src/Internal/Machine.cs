using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.NetworkInformation;
using System.Runtime.InteropServices;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>The properties of a machine that the hardware id is derived from.</summary>
    internal sealed class Machine
    {
        public const string Linux = "linux";
        public const string Mac = "darwin";
        public const string Windows = "win32";

        public string Platform;
        public string Hostname = "";
        /// <summary>Name and version of the operating system.</summary>
        public string System = "";
        /// <summary>MAC addresses of the network cards, as <c>aa:bb:cc:dd:ee:ff</c>.</summary>
        public IReadOnlyList<string> Macs = new string[0];
        /// <summary>Throws <see cref="AbsentException"/> for what is missing, or what this user may never read.</summary>
        public Func<string, string> Read;
        /// <summary>The <c>machine</c>, <c>board</c> or <c>disk</c> of macOS and Windows; throws like <c>Read</c>.</summary>
        public Func<string, string> Property;

        /// <summary>A source that this machine does not have, or that this user may never read.</summary>
        internal sealed class AbsentException : Exception
        {
        }

        public static string ThisPlatform =>
            RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? Windows : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? Mac :
            RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? Linux : "other";

        public static Machine This()
        {
            string platform = ThisPlatform;
            return new Machine { Platform = platform, Hostname = Dns.GetHostName(), System = SystemName(platform), Macs = FindMacs(platform), Read = ReadFile, Property = Properties(platform) };
        }

        private static string SystemName(string platform)
        {
            try
            {
                if (platform == Linux) return "Linux " + File.ReadAllText("/proc/sys/kernel/osrelease").Trim();
                string[] words = RuntimeInformation.OSDescription.Split(' ');
                return platform == Windows ? RuntimeInformation.OSDescription : string.Join(" ", words.Take(2));
            }
            catch (Exception)
            {
                return platform;
            }
        }

        /// <summary>The addresses of the cards that are up and have an IP address, without loopback.</summary>
        private static List<string> FindMacs(string platform)
        {
            var macs = new List<string>();
            NetworkInterface[] cards;
            try
            {
                cards = NetworkInterface.GetAllNetworkInterfaces();
            }
            catch (Exception)
            {
                return macs;
            }
            foreach (NetworkInterface card in cards)
            {
                try
                {
                    if (card.NetworkInterfaceType == NetworkInterfaceType.Loopback || !IsRunning(card, platform)) continue;
                    if (card.GetIPProperties().UnicastAddresses.Count == 0) continue;
                    byte[] address = card.GetPhysicalAddress().GetAddressBytes();
                    if (platform == Windows && address.Length != 6) address = new byte[6];
                    Array.Resize(ref address, 6);
                    macs.Add(string.Join(":", address.Select(each => each.ToString("x2", CultureInfo.InvariantCulture))));
                }
                catch (Exception)
                {
                    // A card that disappears while it is looked at.
                }
            }
            return macs;
        }

        /// <summary>On Linux a card without the notion of a link is running, too, while it is up.</summary>
        private static bool IsRunning(NetworkInterface card, string platform)
        {
            if (card.OperationalStatus == OperationalStatus.Up) return true;
            if (platform != Linux || card.OperationalStatus != OperationalStatus.Unknown) return false;
            string flags = File.ReadAllText("/sys/class/net/" + card.Name + "/flags").Trim();
            return flags.StartsWith("0x", StringComparison.Ordinal) && (Convert.ToInt64(flags.Substring(2), 16) & 1) == 1;
        }

        private static string ReadFile(string path)
        {
            try
            {
                // .NET reports a folder like a file that may not be read.
                if (Directory.Exists(path)) throw new IOException(path + " is a folder");
                return File.ReadAllText(path, Encoding.UTF8);
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException || error is UnauthorizedAccessException)
            {
                throw new AbsentException();
            }
        }

        private static Func<string, string> Properties(string platform)
        {
            if (platform == Windows) return WindowsRegistry.Read;
            if (platform == Mac) return MacRegistry.Read;
            return name => throw new AbsentException();
        }

        public static bool IsLocallyAdministered(string mac)
        {
            int first = 0;
            foreach (char each in mac.Take(2))
            {
                int digit = "0123456789abcdef".IndexOf(each);
                if (digit < 0) break;
                first = first * 16 + digit;
            }
            return (first & 2) != 0;
        }
    }
}
