#pragma once

// Written by packages/sdk/generate.ts from the contract.
namespace keyward {

/** What the program sends as `sdk` when it opens a session. */
inline constexpr const char *sdk = "keyward-cpp/1.6.0";

}  // namespace keyward
