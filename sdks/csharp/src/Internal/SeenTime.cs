using System;
using System.Globalization;
using System.IO;
using System.Linq;

namespace Keyward.Internal
{
    /// <summary>What a storage keeps about the time.</summary>
    internal class TimeNotes
    {
        /// <summary>The latest time that was ever seen, in seconds since 1970.</summary>
        public double Latest;
        /// <summary>The run of the system, and when it began by the clock of that run; null where the platform names no runs.</summary>
        public string BootId;
        public double BootStartedAt;
    }

    /// <summary>The clock of the machine, and how far it must have come: a clock that stands still or goes back gains no time.</summary>
    internal sealed class SeenTime
    {
        private sealed class Anchor
        {
            public double Wall;
            public double Elapsed;
        }

        private static readonly Lazy<string> BootId = new Lazy<string>(FindBootId);
        private volatile Anchor _anchor;

        public Func<double> Now = () => Clock.UnixSeconds;
        public Func<double> Elapsed = () => Clock.NowMs / 1000.0;

        /// <summary>Where the clock must be at least, by what is stored and by this run of the program.</summary>
        public double Floor(TimeNotes kept)
        {
            double? uptime = kept.BootId != null && kept.BootId == BootId.Value ? Uptime() : null;
            return Math.Max(Math.Max(kept.Latest, InRun()), uptime == null ? 0 : kept.BootStartedAt + uptime.Value);
        }

        /// <summary>Notes that the clock was believed at <paramref name="now"/>. Returns whether what is kept changed.</summary>
        public bool Note(TimeNotes kept, double now)
        {
            double latest = Math.Floor(Math.Max(now, InRun()));
            if (now >= InRun()) _anchor = new Anchor { Wall = now, Elapsed = Elapsed() };
            bool isLater = latest > kept.Latest;
            if (isLater) kept.Latest = latest;
            return NoteBoot(kept, now) || isLater;
        }

        private static bool NoteBoot(TimeNotes kept, double now)
        {
            double? uptime = BootId.Value == null ? null : Uptime();
            if (uptime == null) return false;
            double startedAt = Math.Floor(now - uptime.Value);
            if (kept.BootId == BootId.Value && kept.BootStartedAt >= startedAt) return false;
            kept.BootId = BootId.Value;
            kept.BootStartedAt = startedAt;
            return true;
        }

        /// <summary>Believes nothing of what this run has seen.</summary>
        public void Forget() => _anchor = null;

        private double InRun()
        {
            Anchor anchor = _anchor;
            return anchor == null ? 0 : anchor.Wall + Elapsed() - anchor.Elapsed;
        }

        /// <summary>Null on systems other than Linux, and where it cannot be read.</summary>
        private static string FindBootId()
        {
            try
            {
                if (Machine.ThisPlatform != Machine.Linux) return null;
                return File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim() + "/" + (FileStorage.LinkTarget("/proc/self/ns/time") ?? "-");
            }
            catch (Exception)
            {
                return null;
            }
        }

        private static double? Uptime()
        {
            try
            {
                return double.Parse(File.ReadAllText("/proc/uptime").Split(' ')[0], CultureInfo.InvariantCulture);
            }
            catch (Exception)
            {
                return null;
            }
        }
    }
}
