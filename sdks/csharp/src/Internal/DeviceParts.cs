using System;
using System.Collections.Generic;
using System.Linq;

namespace Keyward.Internal
{
    /// <summary>The name, the system and salted hashes of parts of this machine. Serial numbers never leave it unhashed.</summary>
    internal static class DeviceParts
    {
        public static Dictionary<string, object> DescribeOrNothing(string appId)
        {
            try
            {
                return Describe(appId, Machine.This());
            }
            catch (Exception)
            {
                return null;
            }
        }

        /// <summary>What cannot be read is left out.</summary>
        public static Dictionary<string, object> Describe(string appId, Machine machine)
        {
            Dictionary<string, object> parts = JsonText.Object();
            Action<string, Func<string>[]> add = (name, readers) =>
            {
                string value = Text.Lower(FirstOf(readers));
                if (!IsPlaceholder(value)) parts[name] = Secure.HmacHex("keyward-part-v1:" + appId + ":" + name, value);
            };
            Action<string, Func<string>> addOne = (name, reader) => add(name, new[] { reader });
            Action<string, string[]> addFile = (name, paths) => add(name, paths.Select(path => (Func<string>)(() => machine.Read(path))).ToArray());
            switch (machine.Platform)
            {
                case Machine.Linux:
                    addFile("machine", new[] { "/etc/machine-id", "/var/lib/dbus/machine-id" });
                    addFile("board", new[] { "/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/board_serial", "/sys/firmware/devicetree/base/serial-number" });
                    addFile("disk", new[] { "/sys/block/nvme0n1/device/serial", "/sys/block/sda/device/wwid", "/sys/block/vda/serial", "/sys/block/mmcblk0/device/cid" });
                    break;
                case Machine.Mac:
                case Machine.Windows:
                    foreach (string name in new[] { "machine", "board", "disk" }) addOne(name, () => machine.Property(name));
                    break;
                default:
                    addFile("machine", new[] { "/etc/hostid" });
                    break;
            }
            addOne("network", () => LowestBurnedIn(machine.Macs));
            return JsonText.Object("name", Text.Head(machine.Hostname, 256), "system", Text.Head(machine.System, 256), "parts", parts);
        }

        private static string FirstOf(IEnumerable<Func<string>> readers)
        {
            foreach (Func<string> read in readers)
            {
                try
                {
                    string value = Text.Trim(read());
                    if (value != "") return value;
                }
                catch (Exception)
                {
                    // What cannot be read is no part.
                }
            }
            return "";
        }

        /// <summary>Whether an id or a serial number, trimmed and in lower case, identifies no machine.</summary>
        public static bool IsPlaceholder(string value) => PlaceholderIds.All.Contains(value) || IsBlank(value);

        /// <summary>All zeros or all <c>f</c>, with any separators.</summary>
        private static bool IsBlank(string value) =>
            value.All(each => each == '0' || !Text.IsWord(each)) || value.All(each => each == 'f' || !Text.IsWord(each));

        /// <summary>Software-assigned addresses change with every container and tunnel.</summary>
        private static string LowestBurnedIn(IEnumerable<string> macs) =>
            macs.Select(Text.Lower).Where(mac => !Machine.IsLocallyAdministered(mac) && !IsBlank(mac)).OrderBy(mac => mac, StringComparer.Ordinal).FirstOrDefault() ?? "";
    }
}
