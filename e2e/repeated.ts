/** The tags of journeys that run on a desktop and on a phone; those tagged `@phone-full` on a phone in `npm run test:full` only. */
export const repeatedOnPhone = process.env.TEST_FULL === '1' ? /^@phone(-full)?$/ : /^@phone$/
