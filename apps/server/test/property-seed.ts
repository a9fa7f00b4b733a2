import fc from 'fast-check'

// On a developer's machine every run looks for new counterexamples; CI judges a change, so it has no luck in it.
if (process.env.CI !== undefined) fc.configureGlobal({ seed: 26_11_21 })
