using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    public sealed partial class KeywardClient
    {
        private async Task<Call> ToValidationAsync(string licenseKey, bool activate)
        {
            Dictionary<string, object> body = JsonText.Object("appId", _options.AppId, "licenseKey", licenseKey);
            await AddMachineAsync(body).ConfigureAwait(false);
            if (activate) body["activate"] = true;
            if (_options.Locale != null) body["locale"] = _options.Locale;
            return new Call("POST", "validate", body, repeatable: true);
        }

        private async Task AddSignInFactsAsync(Dictionary<string, object> body)
        {
            await AddMachineAsync(body).ConfigureAwait(false);
            if (_options.Offline != null && body.ContainsKey("hwid")) body["remember"] = true;
        }

        /// <summary>The hardware id, and the description of the machine beside it.</summary>
        private async Task AddMachineAsync(Dictionary<string, object> body)
        {
            string hwid = await FindHwidAsync().ConfigureAwait(false);
            if (hwid == null) return;
            body["hwid"] = hwid;
            if (!_options.Device) return;
            Task<Dictionary<string, object>> finding;
            lock (_gate) finding = _device ?? (_device = Task.Run(() => DeviceParts.DescribeOrNothing(_options.AppId)));
            Dictionary<string, object> device = await finding.ConfigureAwait(false);
            if (device != null) body["device"] = device;
        }

        private Task<string> FindHwidAsync()
        {
            lock (_gate)
            {
                if (_hwid == null || _hwid.IsFaulted || _hwid.IsCanceled) _hwid = Task.Run(() => AskForHwidAsync());
                return _hwid;
            }
        }

        private async Task<string> AskForHwidAsync()
        {
            HardwareId hwid = _options.Hwid;
            if (ReferenceEquals(hwid, HardwareId.None)) return null;
            if (ReferenceEquals(hwid, HardwareId.Default)) return await DefaultHwid.FindAsync(_options.AppId, Machine.This()).ConfigureAwait(false);
            string found = hwid.Text;
            if (hwid.Find != null)
            {
                try
                {
                    found = await hwid.Find().ConfigureAwait(false);
                }
                catch (Exception cause)
                {
                    throw new KeywardUsageException("hwid_unavailable", "The function Hwid failed", cause);
                }
            }
            if (found != null && found.Length >= 1 && found.Length <= 256) return found;
            throw new KeywardUsageException("invalid_options", "Hwid must give a text of 1 to 256 characters");
        }

        private static string Require(string text, string name) =>
            text ?? throw new KeywardUsageException("invalid_argument", name + " must be a text");
    }
}
