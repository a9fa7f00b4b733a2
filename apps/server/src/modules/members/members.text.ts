import { limits } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'

/** The console's page for an invitation. The token follows `#`, so it appears in no log and no Referer. */
export const toInvitationLink = (consoleUrl: string, token: string): string =>
  `${consoleUrl}/auth/invitation#${token}`

/** It names the person who invites by the address alone: anyone can choose any name. */
export const toInvitationMail = (invitation: { to: string; from: string; link: string }): Mail => ({
  ...composeMail({
    to: invitation.to,
    subject: 'You are invited to a Keyward team',
    paragraphs: [
      'Hello,',
      `${invitation.from} invites you to work on applications and licenses in Keyward.`,
      { before: 'To accept, open', link: invitation.link },
      `The link works once, for ${limits.invitationDays} days. If you do not know who invites you, ignore this message.`,
    ],
  }),
  isSecret: true,
})
