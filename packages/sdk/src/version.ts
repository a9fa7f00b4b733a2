// Written by packages/sdk/generate.ts from the contract.

/** What the program sends as `sdk` when it opens a session. */
export const sdk = 'keyward-js/1.6.0'
