using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>A stable id of this machine for one app. The raw id never leaves the machine, and two apps get unrelated ids.</summary>
    internal static class DefaultHwid
    {
        private const int Attempts = 3;
        private const int PauseMs = 100;

        public static async Task<string> FindAsync(string appId, Machine machine)
        {
            string id = await FindMachineIdAsync(machine).ConfigureAwait(false);
            if (id == null)
                throw new KeywardUsageException("hwid_unavailable", "This machine has no id of its own. Pass the option Hwid, or HardwareId.None to send none.");
            return Of(appId, id);
        }

        /// <summary>The hardware id of a machine's identity, <c>source:id</c>.</summary>
        public static string Of(string appId, string machine) => Secure.HmacHex("keyward-hwid-v1:" + appId, machine);

        private static async Task<string> FindMachineIdAsync(Machine machine)
        {
            foreach (KeyValuePair<string, Func<string>> source in Sources(machine))
            {
                string id = Text.Lower(Text.Trim(await ReadSourceAsync(source.Value).ConfigureAwait(false)));
                // Placeholder ids of firmware and disk images are shared by many machines.
                if (!DeviceParts.IsPlaceholder(id) && !id.All(each => each == '0' || each == 'f' || each == '-')) return source.Key + ":" + id;
            }
            return NetworkId(machine);
        }

        /// <summary>Returns an empty text if this machine does not have the source, or this user may never read it.</summary>
        private static async Task<string> ReadSourceAsync(Func<string> ask)
        {
            for (int attempt = 1; ; attempt++)
            {
                try
                {
                    return ask();
                }
                catch (Machine.AbsentException)
                {
                    return "";
                }
                catch (Exception cause)
                {
                    // Another source would give the machine another id.
                    if (attempt == Attempts) throw new KeywardUsageException("hwid_unreadable", "The id of this machine could not be read. Try again later, or pass the option Hwid.", cause);
                }
                await Task.Delay(PauseMs).ConfigureAwait(false);
            }
        }

        private static KeyValuePair<string, Func<string>> Source(string name, Func<string> ask) => new KeyValuePair<string, Func<string>>(name, ask);

        private static IEnumerable<KeyValuePair<string, Func<string>>> Sources(Machine machine)
        {
            switch (machine.Platform)
            {
                case Machine.Linux:
                    yield return Source("machine-id", () => machine.Read("/etc/machine-id"));
                    yield return Source("machine-id", () => machine.Read("/var/lib/dbus/machine-id"));
                    yield return Source("dmi", () => machine.Read("/sys/class/dmi/id/product_uuid"));
                    break;
                case Machine.Mac:
                    yield return Source("ioplatform", () => machine.Property("machine"));
                    break;
                case Machine.Windows:
                    yield return Source("machine-guid", () => machine.Property("machine"));
                    break;
                default:
                    yield return Source("hostid", () => machine.Read("/etc/hostid"));
                    break;
            }
        }

        /// <summary>
        /// Fallback for containers and rare systems: the lowest MAC address and the host name. Software-assigned addresses come last,
        /// because they change with every container and tunnel.
        /// </summary>
        private static string NetworkId(Machine machine)
        {
            List<string> real = machine.Macs.Select(Text.Lower).Where(mac => mac != "00:00:00:00:00:00").ToList();
            List<string> burnedIn = real.Where(mac => !Machine.IsLocallyAdministered(mac)).ToList();
            string lowest = (burnedIn.Count > 0 ? burnedIn : real).OrderBy(mac => mac, StringComparer.Ordinal).FirstOrDefault();
            return lowest == null ? null : "network:" + lowest + ":" + Text.Lower(machine.Hostname);
        }
    }
}
