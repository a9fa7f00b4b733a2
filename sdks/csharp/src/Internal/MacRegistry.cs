using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>The registry of macOS, by the system's functions: Unity starts no programs such as <c>ioreg</c>.</summary>
    internal static class MacRegistry
    {
        private const string IoKit = "/System/Library/Frameworks/IOKit.framework/IOKit";
        private const string CoreFoundation = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
        private const uint Utf8 = 0x08000100;

        [DllImport(IoKit, EntryPoint = "IOServiceMatching")]
        private static extern IntPtr MatchClass(string name);
        [DllImport(IoKit, EntryPoint = "IOServiceGetMatchingServices")]
        private static extern int FindServices(uint port, IntPtr matching, out uint services);
        [DllImport(IoKit, EntryPoint = "IOIteratorNext")]
        private static extern uint Next(uint services);
        [DllImport(IoKit, EntryPoint = "IORegistryEntryCreateCFProperty")]
        private static extern IntPtr CreateProperty(uint service, IntPtr key, IntPtr allocator, uint options);
        [DllImport(IoKit, EntryPoint = "IOObjectRelease")]
        private static extern int ReleaseObject(uint handle);
        [DllImport(CoreFoundation, EntryPoint = "CFStringCreateWithCString")]
        private static extern IntPtr CreateText(IntPtr allocator, string text, uint encoding);
        [DllImport(CoreFoundation, EntryPoint = "CFStringGetCString")]
        private static extern byte CopyText(IntPtr text, byte[] buffer, IntPtr size, uint encoding);
        [DllImport(CoreFoundation, EntryPoint = "CFStringGetTypeID")]
        private static extern UIntPtr TextType();
        [DllImport(CoreFoundation, EntryPoint = "CFGetTypeID")]
        private static extern UIntPtr TypeOf(IntPtr value);
        [DllImport(CoreFoundation, EntryPoint = "CFRelease")]
        private static extern void Release(IntPtr value);

        public static string Read(string property)
        {
            string value =
                property == "machine" ? Find("IOPlatformExpertDevice", "IOPlatformUUID") :
                property == "board" ? Find("IOPlatformExpertDevice", "IOPlatformSerialNumber") :
                Find("IONVMeController", "Serial Number");
            return value ?? throw new Machine.AbsentException();
        }

        private static string Find(string service, string name)
        {
            IntPtr matching = MatchClass(service);
            // Consumes the reference to what it matches.
            if (matching == IntPtr.Zero || FindServices(0, matching, out uint services) != 0) throw new IOException("IOKit does not answer");
            try
            {
                for (uint one = Next(services); one != 0; one = Next(services))
                {
                    try
                    {
                        string value = ReadText(one, name);
                        if (!string.IsNullOrEmpty(value)) return value;
                    }
                    finally
                    {
                        ReleaseObject(one);
                    }
                }
                return null;
            }
            finally
            {
                ReleaseObject(services);
            }
        }

        private static string ReadText(uint service, string name)
        {
            IntPtr key = CreateText(IntPtr.Zero, name, Utf8);
            IntPtr value = CreateProperty(service, key, IntPtr.Zero, 0);
            Release(key);
            if (value == IntPtr.Zero) return null;
            try
            {
                var bytes = new byte[1024];
                if (TypeOf(value) != TextType() || CopyText(value, bytes, new IntPtr(bytes.Length), Utf8) == 0) return null;
                return Encoding.UTF8.GetString(bytes).Split('\0')[0];
            }
            finally
            {
                Release(value);
            }
        }
    }
}
