import { limits } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'

const format = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  month: 'short',
  day: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** 'MMM dd, yyyy, HH:mm UTC' */
const formatUtc = (epochMs: number): string => `${format.format(epochMs)} UTC`

/** The reminder that premium is about to end. */
export function toReminder(notice: {
  name: string
  email: string
  premiumUntil: number
  isLastDay: boolean
  publicUrl: string | undefined
}): Mail {
  const { name, email, publicUrl } = notice
  const end = formatUtc(notice.premiumUntil)
  const { maxApps, maxLicensesPerApp } = limits.free
  return composeMail({
    to: email,
    subject: notice.isLastDay ? 'Your premium plan ends within a day' : `Your premium plan ends on ${end}`,
    paragraphs: [
      `Hello ${name},`,
      `the premium plan of your Keyward account ${email} ends on ${end}.`,
      `From then on the limits of the free plan apply to what is new: ${maxApps} applications, ${maxLicensesPerApp} licenses per application and no resellers. Nothing is deleted, and licenses that your customers have go on working. Your resellers can no longer generate licenses.`,
      publicUrl === undefined
        ? 'To renew, open the Subscription page of your console'
        : { before: 'To renew, open', link: `${publicUrl}/subscription` },
      'This message was sent by Keyward because premium is about to end. You need not answer it.',
    ],
  })
}
