import fc from 'fast-check'

// Local runs search for new counterexamples; CI uses a fixed seed, so that a failure always comes from the change.
if (process.env.CI !== undefined) fc.configureGlobal({ seed: 26_11_21 })
