import { isIP } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { createTransport } from 'nodemailer'
import { type Config, loopback } from '../../config.ts'
import { second } from '../../core/clock.ts'
import { MailError } from './mail.error.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html?: string
  /** Holds a secret, which must not be written to the log. */
  isSecret?: true
}

export interface Mailer {
  /** Resolves when the mail server has taken the message, else throws a MailError. */
  send(mail: Mail): Promise<void>
  /** Ends the connections at once; a message under way fails. */
  close(): void
}

const timeoutMs = 10 * second
/** A server that trickles its replies runs into no other limit. */
const messageTimeoutMs = 30 * second
const idleTimeoutMs = 5 * second

/** Sends by SMTP_URL; without it every message is written to the log, unless it holds a secret. */
export function createMailer(
  config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>,
  log: Pick<FastifyBaseLogger, 'info'>,
): Mailer {
  if (config.smtpUrl !== undefined) return createSmtpMailer(config.smtpUrl, sender(config))
  return {
    async send({ to, subject, text, isSecret }) {
      refuseUnsendable({ to, subject })
      if (isSecret) throw new MailError({ code: 'ENOSMTP' })
      log.info({ to, subject, text }, 'mail')
    },
    close() {},
  }
}

function createSmtpMailer(url: string, from: string): Mailer {
  // What stands in the query of the URL overrides these.
  const transport = createTransport({
    pool: true,
    url,
    requireTLS: needsTls(url),
    maxConnections: 2,
    maxRequeues: 1,
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    idleTimeout: idleTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text, html }) {
      refuseUnsendable({ to, subject })
      try {
        await transport.sendMail({
          from,
          to: { name: '', address: to },
          subject,
          text,
          ...(html === undefined ? {} : { html }),
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(messageTimeoutMs),
        })
      } catch (error) {
        throw new MailError(error as object)
      }
    },
    close: () => transport.close({ force: true }),
  }
}

/** A password never leaves this machine in the clear, even if somebody on the way hides that TLS is offered. */
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

/** Both come from what people typed: neither may add a recipient or a header. */
function refuseUnsendable({ to, subject }: Pick<Mail, 'to' | 'subject'>): void {
  if (!oneAddress.test(to) || lineBreak.test(subject)) throw new MailError({ code: 'EUNSENDABLE' })
}
