/** Whether everything runs: `npm run test:full`. */
export const isFull = process.env.TEST_FULL === '1'

/** The tags of journeys that run on a desktop and on a phone; those tagged `@phone-full` on a phone in `npm run test:full` only. */
export const repeatedOnPhone = isFull ? /^@phone(-full)?$/ : /^@phone$/
