import { isIP } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { type Config, loopback } from '../../config.ts'
import { addressOf } from '../../config-backups.ts'
import { second } from '../../core/clock.ts'
import { MailError } from './mail.error.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html?: string
  /** Shown as the sender, at the server's own address. */
  fromName?: string
  /** Where answers go instead. */
  replyTo?: string
  /** Shown above the text, as an attachment. */
  logo?: LogoRef
  /** Where its reader, or a mail program by a POST (RFC 8058), ends such mails. */
  unsubscribe?: string
  /** The message contains a secret and must not be logged. */
  isSecret?: true
}

/** A picture of a vendor by the SHA-256 of its bytes; a mail that waits has none. */
export interface LogoRef {
  ownerId: string
  digest: string
}

export interface Logo {
  bytes: Buffer
  type: string
}

/** How the HTML of a mail names its logo. */
export const logoCid = 'logo@keyward'

export interface Mailer {
  /** Resolves when the mail server has accepted the message; otherwise throws a MailError. */
  send(mail: Mail, logo?: Logo): Promise<void>
  /** Closes the connections immediately; messages being sent fail. */
  close(): void
}

const timeoutMs = 10 * second
/** Other timeouts do not catch a server that answers byte by byte. */
const messageTimeoutMs = 30 * second
const idleTimeoutMs = 5 * second

/** Sends through SMTP_URL; without it, logs every message that contains no secret. */
export function createMailer(
  config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>,
  log: Pick<FastifyBaseLogger, 'info'>,
): Mailer {
  if (config.smtpUrl !== undefined) return createSmtpMailer(config.smtpUrl, sender(config))
  return {
    async send({ to, subject, text, fromName, replyTo, isSecret }) {
      refuseUnsendable({ to, subject, fromName, replyTo })
      if (isSecret) throw new MailError({ code: 'ENOSMTP' })
      log.info({ to, subject, text }, 'mail')
    },
    close() {},
  }
}

/** Query parameters of the URL override these options. */
const openTransport = async (url: string) =>
  (await import('nodemailer')).createTransport({
    pool: true,
    url,
    requireTLS: needsTls(url),
    maxConnections: 4,
    maxRequeues: 1,
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    idleTimeout: idleTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/** Connects to the mail server and signs in, without a message; otherwise throws a MailError. */
export async function greetMailServer(url: string): Promise<void> {
  const transport = await openTransport(url)
  try {
    await transport.verify()
  } catch (error) {
    throw new MailError(error as object)
  } finally {
    transport.close({ force: true })
  }
}

function createSmtpMailer(url: string, from: string): Mailer {
  const open = () => openTransport(url)
  let transport: ReturnType<typeof open> | undefined
  return {
    async send({ to, subject, text, html, fromName, replyTo, unsubscribe }, logo) {
      refuseUnsendable({ to, subject, fromName, replyTo })
      try {
        transport ??= open()
        await (await transport).sendMail({
          from: fromName === undefined ? from : { name: fromName, address: addressOf(from) },
          ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
          to: { name: '', address: to },
          subject,
          text,
          ...(html === undefined ? {} : { html }),
          ...(logo && { attachments: [toAttachment(logo)] }),
          headers: {
            'Auto-Submitted': 'auto-generated',
            ...(unsubscribe !== undefined && {
              'List-Unsubscribe': `<${unsubscribe}>`,
              // RFC 8058 allows it with https alone.
              ...(unsubscribe.startsWith('https:') && {
                'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
              }),
            }),
          },
          signal: AbortSignal.timeout(messageTimeoutMs),
        })
      } catch (error) {
        throw new MailError(error as object)
      }
    },
    close: () => void transport?.then((opened) => opened.close({ force: true })).catch(() => {}),
  }
}

const toAttachment = ({ bytes, type }: Logo) => ({
  filename: `logo.${type === 'image/png' ? 'png' : 'jpg'}`,
  content: bytes,
  contentType: type,
  contentDisposition: 'inline' as const,
  cid: logoCid,
})

/** Never send a password in clear text, even if an attacker strips STARTTLS from the server's greeting. */
function needsTls(url: string): boolean {
  const { protocol, username, hostname } = new URL(url)
  return protocol === 'smtp:' && username !== '' && !loopback.test(hostname)
}

function sender({ mailFrom, publicUrl }: Pick<Config, 'mailFrom' | 'publicUrl'>): string {
  const host = publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname
  const isName = isIP(host.replace(/^\[|\]$/g, '')) === 0
  return mailFrom ?? `Keyward <no-reply@${isName ? host : 'localhost'}>`
}

const oneAddress = /^[^\s\p{C},;:<>()[\]"\\@]+@[^\s\p{C},;:<>()[\]"\\@]+$/u
const lineBreak = /[\p{Cc}\u2028\u2029]/u

type Headers = Pick<Mail, 'to' | 'subject'> & { [Name in 'fromName' | 'replyTo']: string | undefined }

/** They contain user input, which must not add a recipient or a header. */
function refuseUnsendable({ to, subject, fromName = '', replyTo = to }: Headers): void {
  const isSendable = [to, replyTo].every((one) => oneAddress.test(one)) && !lineBreak.test(subject + fromName)
  if (!isSendable) throw new MailError({ code: 'EUNSENDABLE' })
}
