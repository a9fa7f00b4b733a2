using System;
using System.Collections.Generic;
using System.Linq;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>The result of <see cref="KeywardClient.DevicesAsync"/>.</summary>
    public sealed class DevicesResult : KeywardResult
    {
        /// <summary>The device seen last comes first; at most 200. Empty after a refusal.</summary>
        public IReadOnlyList<Device> Devices { get; }

        internal DevicesResult(Dictionary<string, object> json) : base(json)
        {
            Devices = json.TryGetValue("devices", out object list) && list is List<object> devices
                ? devices.OfType<Dictionary<string, object>>().Select(each => new Device(each)).ToList()
                : new List<Device>();
        }
    }

    /// <summary>A machine on which the user has signed in.</summary>
    public sealed class Device
    {
        public string Id { get; }
        public string Name { get; }
        public string System { get; }
        public DateTimeOffset? FirstSeenAt { get; }
        public DateTimeOffset? LastSeenAt { get; }

        internal Device(Dictionary<string, object> json)
        {
            Id = JsonText.Text(json, "_id");
            Name = JsonText.Text(json, "name");
            System = JsonText.Text(json, "system");
            FirstSeenAt = JsonText.Time(json, "firstSeenAt");
            LastSeenAt = JsonText.Time(json, "lastSeenAt");
        }
    }
}
