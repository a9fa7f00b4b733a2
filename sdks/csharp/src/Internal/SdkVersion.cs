namespace Keyward.Internal
{
    // Written by packages/sdk/generate.ts from the contract.
    internal static class SdkVersion
    {
        /// <summary>What the program sends as <c>sdk</c> when it opens a session.</summary>
        public const string Sdk = "keyward-csharp/1.6.0";
    }
}
