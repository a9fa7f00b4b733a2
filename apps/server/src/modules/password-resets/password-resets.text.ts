import { limits } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'
import type { AccountKind } from './password-resets.repo.ts'

/** Path of the console's reset page. The token follows `#`, so it appears in no log and no Referer. */
export const resetPath = (kind: AccountKind, token: string): string => `${authPath(kind)}/reset#${token}`

const authPath = (kind: AccountKind): string => (kind === 'owner' ? '/auth' : '/reseller/auth')

const accountOf = (kind: AccountKind, email: string): string =>
  kind === 'owner' ? `the Keyward account ${email}` : `the Keyward reseller account ${email}`

interface About {
  kind: AccountKind
  /** The stored address, not the one typed into the form. */
  email: string
  consoleUrl: string
}

/** The message with the link. It omits the account's name: anyone can register a stranger's address under any name. */
export const toResetMail = ({ kind, email, consoleUrl, token }: About & { token: string }): Mail => ({
  ...composeMail({
    to: email,
    subject: 'Choose a new Keyward password',
    paragraphs: [
      'Hello,',
      `someone requested a new password for ${accountOf(kind, email)}.`,
      { before: 'To choose it, open', link: `${consoleUrl}${resetPath(kind, token)}` },
      `The link works once, for ${limits.resetLinkMinutes} minutes. If you did not ask for it, ignore this message: your password stays as it is.`,
    ],
  }),
  isSecret: true,
})

/** The message sent after a link was used to change the password. */
export const toConfirmationMail = ({ kind, email, consoleUrl }: About): Mail =>
  composeMail({
    to: email,
    subject: 'Your Keyward password was changed',
    paragraphs: [
      'Hello,',
      `the password of ${accountOf(kind, email)} was changed with a link that was mailed to you. Every device that was signed in before is signed out.`,
      {
        before: 'If that was not you, choose another password at',
        link: `${consoleUrl}${authPath(kind)}/forgot`,
      },
      'Then check who else can read your mail, and inform the operator of the server.',
    ],
  })
