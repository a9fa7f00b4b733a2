import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'

interface About {
  isReseller: boolean
  email: string
  consoleUrl: string
}

const accountOf = ({ isReseller, email }: About): string =>
  isReseller ? `the Keyward reseller account ${email}` : `the Keyward account ${email}`

/** The message after a sign-in from a device that the account has not used lately. */
export const toNewDeviceMail = (about: About & { device: string; address: string; time: string }): Mail =>
  composeMail({
    to: about.email,
    subject: 'New sign-in to your Keyward account',
    paragraphs: [
      'Hello,',
      `someone signed in to ${accountOf(about)} on ${about.time}, with ${about.device}, from the address ${about.address}.`,
      'If that was you, you need not do anything.',
      {
        before: 'If that was not you, choose another password, which ends every session, at',
        link: `${about.consoleUrl}${about.isReseller ? '/reseller/auth' : '/auth'}/forgot`,
      },
      'Then check who else can read your mail, and turn on a second factor in your settings.',
      ...(about.isReseller
        ? []
        : [
            {
              before:
                'You get this message because “New sign-ins” is on for you. If your role may change settings, turn it off at',
              link: `${about.consoleUrl}/settings/notifications`,
            },
          ]),
    ],
  })

/** The message to the old address. It does not name the new one: another person may read the old mailbox. */
export const toAddressChangedMail = ({ email, time }: { email: string; time: string }): Mail =>
  composeMail({
    to: email,
    subject: 'The address of your Keyward account was changed',
    paragraphs: [
      'Hello,',
      `on ${time} the Keyward account ${email} got another email address. Someone who knew its password changed it. Messages about the account are no longer sent to you, and links that were mailed to this address no longer work.`,
      'If that was you, you need not do anything.',
      'If that was not you, inform the operator of the server at once: the operator can give the account a new password and end its sessions. Then change this password wherever else you use it.',
    ],
  })
