import { messageDefaults } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'
import type { Recipient } from './notifications.access.ts'
import type { RisingRefusals, WaitingOrder } from './notifications.facts.ts'
import type { Kind } from './notifications.rules.ts'

const linesMax = 20
const nameMax = 60
/** A reason names a product, whose name the shop chose. */
const reasonMax = 300

/**
 * A name or address that someone else chose. Mail programs would turn a part that looks like an address of the web into a link:
 * an invisible space behind its dots, colons and slashes prevents that.
 */
export const quoted = (text: string): string => `“${unlinked(text, nameMax)}”`

function unlinked(text: string, most: number): string {
  const plain = [...text.toWellFormed().replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')]
  const short = plain.length > most ? `${plain.slice(0, most).join('')}…` : plain.join('')
  return short.replace(/[.:/@]/g, '$&\u200b')
}

const numbers = new Intl.NumberFormat('en-US')
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${numbers.format(n)} ${n === 1 ? one : many}`

/** The name of each kind in the console. */
export const nameOf: Readonly<Record<Kind, string>> = {
  keysRunningOut: 'Keys running out',
  quotaRunningOut: 'Limits nearly used up',
  licensesExpiring: 'Licenses about to end',
  refusalsRising: 'More refusals than usual',
  webhookFailing: 'Failing webhooks',
  ordersWaiting: 'Waiting orders',
  weeklySummary: 'Weekly summary',
}

/** A mail about a vendor account, which ends with why it was sent and where to turn it off. */
export const toNotification = (
  kind: Kind,
  { email, vendorName }: Pick<Recipient, 'email' | 'vendorName'>,
  consoleUrl: string,
  mail: { subject: string; intro: string; lines: readonly string[]; page?: string; outro?: string },
): Mail =>
  composeMail({
    to: email,
    subject: mail.subject,
    paragraphs: [
      'Hello,',
      mail.intro,
      ...mail.lines.slice(0, linesMax),
      ...(mail.lines.length > linesMax ? [`And ${mail.lines.length - linesMax} more.`] : []),
      ...(mail.outro === undefined ? [] : [mail.outro]),
      ...(mail.page === undefined ? [] : [{ before: 'See them at', link: `${consoleUrl}${mail.page}` }]),
      `You get this message because “${nameOf[kind]}” is on for you at ${quoted(vendorName)} in Keyward.`,
      { before: 'Turn it off at', link: `${consoleUrl}/settings/notifications` },
    ],
  })

/** It omits the names of person and vendor: anyone can register a stranger's address under any name. */
export const toConfirmEmailMail = (to: { email: string; consoleUrl: string; token: string }): Mail => ({
  ...composeMail({
    to: to.email,
    subject: 'Confirm your address for Keyward',
    paragraphs: [
      'Hello,',
      `someone who is signed in to the Keyward account ${to.email} wants to get messages at this address.`,
      {
        before: 'If that was you, sign in and open',
        link: `${to.consoleUrl}/settings/notifications#${to.token}`,
      },
      'The link works for 24 hours. If you did not ask for it, ignore this message: then you get no messages about applications and licenses.',
    ],
  }),
  isSecret: true,
})

export const keysText = (app: string, { unused, redeemed }: { unused: number; redeemed: number }): string =>
  `${quoted(app)} has ${count(unused, 'unused key')} left. In the last 7 days, ${numbers.format(redeemed)} were redeemed.`

export const resellerText = (
  app: string,
  reseller: { email: string; license_count: number; allowed_license_keys: number },
): string =>
  `The reseller ${quoted(reseller.email)} of ${quoted(app)} has generated ${numbers.format(reseller.license_count)} of ${count(reseller.allowed_license_keys, 'license')}.`

export const planAppsText = ({ used, limit }: { used: number; limit: number }): string =>
  `You have ${numbers.format(used)} of the ${count(limit, 'application')} of the free plan.`

export const planLicensesText = (app: string, used: number, limit: number): string =>
  `${quoted(app)} has ${numbers.format(used)} of the ${count(limit, 'license')} of the free plan.`

export const endingText = (app: string, n: number): string => `${quoted(app)}: ${count(n, 'license')}.`

export const orderText = (app: string, { number, reason }: WaitingOrder): string =>
  `Order ${quoted(number)} of ${quoted(app)}: ${unlinked(reason ?? '', reasonMax)}.`

export const unmailedText = (app: string, { number }: { number: string }): string =>
  `Order ${quoted(number)} of ${quoted(app)}: its keys could not be mailed to the buyer.`

export function refusalsText(app: string, { recent, usual, isAll, code }: RisingRefusals): string {
  const reason = messageDefaults[code as keyof typeof messageDefaults]
  const refused = `${quoted(app)} refused ${isAll ? '' : 'more than '}${count(recent, 'request')} in the last 24 hours; usual are ${numbers.format(Math.round(usual))} a day.`
  return reason === undefined ? refused : `${refused} The most frequent reason: ${reason}.`
}

/** What a week was in one app. */
export interface WeekOfApp {
  name: string
  licenses: number
  licensesBefore: number
  activations: number
  activationsBefore: number
  active: number
  ending: number
  /** Undefined for a reader who may not see the activity log. */
  refusals: { n: number; isAll: boolean } | undefined
}

export function weekText(week: WeekOfApp): string {
  const parts = [
    `${count(week.licenses, 'new license')} (${numbers.format(week.licensesBefore)} the week before)`,
    `${count(week.activations, 'activation')} (${numbers.format(week.activationsBefore)})`,
    `${count(week.active, 'license')} in use`,
    `${numbers.format(week.ending)} of them ${week.ending === 1 ? 'ends' : 'end'} within 7 days`,
    ...(week.refusals
      ? [`${week.refusals.isAll ? '' : 'more than '}${count(week.refusals.n, 'refusal')}`]
      : []),
  ]
  return `${quoted(week.name)}: ${parts.join(', ')}.`
}
