/** Whether everything runs: `npm run test:full`. */
export const isFull = process.env.TEST_FULL === '1'

/** The screen of a phone. */
export const phone = { width: 390, height: 844 }
