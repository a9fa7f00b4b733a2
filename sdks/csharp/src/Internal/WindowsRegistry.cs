using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;

namespace Keyward.Internal
{
    /// <summary>The registry of Windows, by the system's functions: Unity starts no programs such as <c>reg.exe</c>.</summary>
    internal static class WindowsRegistry
    {
        private static readonly IntPtr LocalMachine = new IntPtr(unchecked((int)0x80000002));
        private const int MayQuery = 1;
        private const int MayEnumerate = 8;
        private const int View64 = 0x100;
        private const int TypeText = 1;
        private const int NotFound = 2;
        private const int Denied = 5;
        private const int DeepestKey = 8;

        [DllImport("advapi32.dll", EntryPoint = "RegOpenKeyExW", CharSet = CharSet.Unicode)]
        private static extern int OpenKey(IntPtr parent, string path, int options, int access, out IntPtr key);
        [DllImport("advapi32.dll", EntryPoint = "RegQueryValueExW", CharSet = CharSet.Unicode)]
        private static extern int QueryValue(IntPtr key, string name, IntPtr reserved, out int type, byte[] value, ref int bytes);
        [DllImport("advapi32.dll", EntryPoint = "RegEnumKeyExW", CharSet = CharSet.Unicode)]
        private static extern int NameKey(IntPtr key, int index, byte[] name, ref int length, IntPtr reserved, IntPtr type, IntPtr typeLength, IntPtr written);
        [DllImport("advapi32.dll", EntryPoint = "RegCloseKey")]
        private static extern int CloseKey(IntPtr key);

        public static string Read(string property)
        {
            string value =
                property == "machine" ? ReadText("SOFTWARE\\Microsoft\\Cryptography", "MachineGuid") :
                property == "board" ? ReadText("SYSTEM\\HardwareConfig", "LastConfig") :
                FindText("HARDWARE\\DEVICEMAP\\Scsi", "SerialNumber", 0);
            // The id of earlier versions ended at white space.
            if (property == "machine" && value != null) value = Regex.Match(value, "\\S*", RegexOptions.CultureInvariant).Value;
            return value ?? throw new Machine.AbsentException();
        }

        /// <summary>Null if there is no such text, or if this user may not read it.</summary>
        private static string ReadText(string path, string name)
        {
            int opened = OpenKey(LocalMachine, path, 0, MayQuery | View64, out IntPtr key);
            if (opened == NotFound || opened == Denied) return null;
            if (opened != 0) throw new IOException("The registry cannot be read: " + Text.Of(opened));
            try
            {
                var value = new byte[2048];
                int bytes = value.Length;
                int read = QueryValue(key, name, IntPtr.Zero, out int type, value, ref bytes);
                if (read == NotFound || read == Denied) return null;
                if (read != 0) throw new IOException("The registry cannot be read: " + Text.Of(read));
                return type == TypeText ? ToText(value, bytes / 2) : null;
            }
            finally
            {
                CloseKey(key);
            }
        }

        /// <summary>The first text of this name below a key, in the order of the registry.</summary>
        private static string FindText(string path, string name, int depth)
        {
            string own = ReadText(path, name);
            if (own != null && Text.Trim(own) != "") return own;
            return depth > DeepestKey ? null : KeysOf(path).Select(key => FindText(path + "\\" + key, name, depth + 1)).FirstOrDefault(found => found != null);
        }

        private static List<string> KeysOf(string path)
        {
            var names = new List<string>();
            if (OpenKey(LocalMachine, path, 0, MayEnumerate | View64, out IntPtr key) != 0) return names;
            try
            {
                var name = new byte[512];
                for (int index = 0; index < 256; index++)
                {
                    int length = name.Length / 2;
                    if (NameKey(key, index, name, ref length, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero) != 0) break;
                    names.Add(ToText(name, length));
                }
                return names;
            }
            finally
            {
                CloseKey(key);
            }
        }

        private static string ToText(byte[] utf16, int length) => Encoding.Unicode.GetString(utf16, 0, length * 2).Split('\0')[0];
    }
}
