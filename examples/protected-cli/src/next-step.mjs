/** What the customer can do about each refusal. The text of the vendor comes before it. */
const steps = {
  appDisabled: () => 'The vendor has ended this program. Ask the vendor what replaces it.',
  pausedApp: () => 'The vendor has paused this program. Try again later.',
  hashCheckFail: () => 'This copy is damaged or changed. Install Tally again.',
  sessionUnauthed: () => 'Start Tally once with --key YOUR-LICENSE-KEY.',
  keyNotFound: () => 'Check the key for typing mistakes.',
  keyBanned: () => 'Ask the vendor for another key.',
  userBanned: () => 'Ask the vendor.',
  pausedSub: () => 'Your license is paused. Ask the vendor when it goes on.',
  noActiveSubs: ({ expiresAt }) => `Your license ended${on(expiresAt)}. Renew it, then start Tally again.`,
  updatesEnded: () =>
    'Your license does not cover this version. Install an earlier one, or renew your updates.',
  versionTooOld: ({ release }) =>
    release ? `Start Tally with --update to get version ${release.version}.` : 'Ask the vendor.',
  hwidBlacklisted: () => 'The vendor has blocked this computer or address. Ask the vendor.',
  hwidMismatch: ({ devices }) =>
    `Your license is in use on ${count(devices)} computers. Ask the vendor to free one.`,
  vpnBlocked: () => 'Turn off the VPN, then start Tally again.',
  noSeats: ({ seats, until }) =>
    `All ${count(seats)} seats are in use. Try again${until ? ` at ${time(until)}` : ' later'}.`,
}

/** What the user can do when the program did not reach the server. */
const networkSteps = {
  rate_limited: ({ retryAfterMs = 60_000 }) => `Try again in ${Math.ceil(retryAfterMs / 1000)} seconds.`,
  captive_portal: () => 'Sign in to your network in a browser, then start Tally again.',
  certificate: () =>
    'Something on this network replaces the server. Try another network, or ask your administrator.',
  clock: () => 'Correct the clock of this computer, then start Tally again.',
}
const offlineSteps = {
  lease_ended: 'Tally has worked offline for as long as it may. Go online, then start Tally again.',
  clock_set_back: 'The clock of this computer is behind. Correct it, or go online, then start Tally again.',
}

/** One sentence for the customer; `details` of a refusal has its dates and numbers. */
export const nextStep = ({ code, details = {} }) => steps[code]?.(details) ?? 'Ask the vendor.'

/** The pages of the vendor's shop that help after a refusal; terminals open them with a click. */
export const shopPages = ({ details: { links } = {} }) =>
  links
    ? [{ name: 'Renew', url: links.renew }, ...links.upgrades, { name: 'Buy', url: links.buy }]
        .filter(({ url }) => url)
        .map(({ name, url }) => `${name}: ${url}`)
    : []

/** One sentence for the customer after a `KeywardNetworkError`. */
export const nextNetworkStep = (error) =>
  offlineSteps[error.offline] ??
  networkSteps[error.code]?.(error) ??
  'Check your connection, then start Tally again.'

export const day = (iso) => new Date(iso).toLocaleDateString('en', { dateStyle: 'long' })
export const time = (iso) => new Date(iso).toLocaleString('en', { dateStyle: 'long', timeStyle: 'short' })
const on = (iso) => (iso ? ` on ${day(iso)}` : '')
const count = (use) => (use ? `${use.used} of ${use.limit}` : 'all')
