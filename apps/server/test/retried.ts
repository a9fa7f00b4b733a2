/**
 * Options of a test that CI repeats once when it fails. The reason names what outside of the product can fail it.
 * Never for a test about commits or a kill: one failed run in many is a fault there, which a retry would hide.
 */
export const retried = (_reason: string): { retry: number } => ({
  retry: process.env.CI === undefined ? 0 : 1,
})
