import { limits } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'

/** The message to a person for whom the operator has created a vendor account. */
export const toWelcomeMail = ({ to, link }: { to: string; link: string }): Mail => ({
  ...composeMail({
    to,
    subject: 'Your Keyward account',
    paragraphs: [
      'Hello,',
      `the operator of a Keyward server has created an account for ${to}.`,
      { before: 'To choose its password, open', link },
      `The link works once, for ${limits.invitationDays} days. If you do not know why you get it, ignore this message.`,
    ],
  }),
  isSecret: true,
})
