// Tally for .NET: counts the words of your texts. It works only with a license.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Keyward;

internal static class Program
{
    private const string Usage = @"Usage: tally [--key KEY] FILE...
       tally --request KEY | --activate FILE | --deactivate | --sign-out

Counts the words of your texts.

  --key KEY      sign in with this license key; later starts need none
  --request KEY  print the request of a machine that is never online
  --activate F   accept the vendor's file for that request
  --deactivate   give up the activation and print the code for the vendor
  --sign-out     forget the license on this machine";

    private static int Main(string[] args)
    {
        try
        {
            using (KeywardClient keyward = Config.ReadClient()) return RunAsync(keyward, args).GetAwaiter().GetResult();
        }
        catch (KeywardNetworkException error)
        {
            Console.Error.WriteLine("The license server cannot be reached (" + error.Code + "). " + NextStep.After(error));
            return 2;
        }
        catch (KeywardSignatureException error)
        {
            Console.Error.WriteLine("The answer is not from the license server (" + error.Code + "). Tally stops.");
            return 4;
        }
        catch (Exception error) when (error is KeywardUsageException || error is IOException || error is ArgumentException)
        {
            Console.Error.WriteLine(error.Message);
            return 1;
        }
    }

    private static async Task<int> RunAsync(KeywardClient keyward, string[] args)
    {
        string key = null;
        if (args.Length == 2 && args[0] == "--request")
        {
            Console.WriteLine(await keyward.OfflineRequestAsync(args[1]));
            return 0;
        }
        if (args.Length == 2 && args[0] == "--activate")
            return Refused(await keyward.ActivateOfflineAsync(File.ReadAllText(args[1]))) ? 3 : 0;
        if (args.Length == 1 && args[0] == "--deactivate")
        {
            Console.WriteLine(await keyward.DeactivateOfflineAsync());
            return 0;
        }
        if (args.Length == 1 && args[0] == "--sign-out")
        {
            await keyward.LogoutAsync();
            return 0;
        }
        if (args.Length > 1 && args[0] == "--key")
        {
            key = args[1];
            args = args.Skip(2).ToArray();
        }
        if (args.Length == 0) throw new ArgumentException(Usage);

        if (key != null && Refused(await keyward.LicenseAsync(key))) return 3;
        foreach (string path in args)
        {
            // Before every piece of work: without it, a program that runs for days would not notice a ban.
            UserResult check = await keyward.SessionAsync();
            if (Refused(check)) return 3;
            if (check.Offline != null && check.Offline.InGrace)
                Console.Error.WriteLine("Go online" + NextStep.Date(" before ", check.Offline.GraceUntil, "u") + ", or Tally stops.");
            Console.WriteLine(Path.GetFileName(path) + " " + CountWords(path));
        }
        return 0;
    }

    /// <summary>Shows the vendor's text, what to do about it, and the reference by which the vendor finds the reason.</summary>
    private static bool Refused(KeywardResult result)
    {
        if (result.Ok) return false;
        Console.Error.WriteLine(result.Message);
        Console.Error.WriteLine(NextStep.After(result));
        string renew = result.Details?.Links?.Renew;
        if (renew != null) Console.Error.WriteLine("Renew: " + renew);
        if (result.Reference != null) Console.Error.WriteLine("Reference: " + result.Reference);
        return true;
    }

    private static int CountWords(string path) =>
        File.ReadAllText(path).Split((char[])null, StringSplitOptions.RemoveEmptyEntries).Length;
}

/// <summary>For the example alone: build these values into your own program, above all the keys.</summary>
internal static class Config
{
    public static KeywardClient ReadClient()
    {
        string file = Environment.GetEnvironmentVariable("TALLY_CONFIG") ?? Path.Combine(AppDomain.CurrentDomain.BaseDirectory, "keyward.txt");
        if (!File.Exists(file)) throw new IOException("Copy keyward.example.txt to " + file + " and fill it in.");
        Dictionary<string, string> values = File.ReadAllLines(file).Where(line => line.Contains("=") && !line.StartsWith("#"))
            .ToDictionary(line => line.Substring(0, line.IndexOf('=')).Trim(), line => line.Substring(line.IndexOf('=') + 1).Trim());
        return new KeywardClient(new KeywardOptions
        {
            BaseUrl = values["baseUrl"],
            AppId = values["appId"],
            Secret = values["secret"],
            PublicKeys = values["publicKeys"],
            Version = "1.0.0",
            Storage = KeywardStorage.UserData,
        });
    }
}
