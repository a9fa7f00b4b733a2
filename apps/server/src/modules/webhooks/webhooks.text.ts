import { limits, type PauseReason } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'
import { quoted } from '../notifications/notifications.text.ts'

const causes: Record<PauseReason, string> = {
  failing: `The server at this address has failed for ${limits.webhookRetryDays} days.`,
  maker_gone: 'The person or API key that saved the webhook last has no access any more.',
  full: `More than ${limits.webhookWaitingMax.toLocaleString('en-US')} events waited for it.`,
}

/** It names the origin alone: the path can hold a token. */
export const toPausedMail = (paused: {
  to: string
  origin: string
  reason: PauseReason
  link: string
  /** Where the reader turns such mails off. */
  offLink: string
}): Mail =>
  composeMail({
    to: paused.to,
    subject: 'A webhook is paused',
    paragraphs: [
      'Hello,',
      `Keyward no longer sends events to ${quoted(paused.origin)}.`,
      `${causes[paused.reason]} Events that waited were given up.`,
      { before: 'Check the webhook and resume it at', link: paused.link },
      'You get this message because “Failing webhooks” is on for you in Keyward.',
      { before: 'Turn it off at', link: paused.offLink },
    ],
  })
