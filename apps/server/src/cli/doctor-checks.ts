import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { Config } from '../config.ts'
import { day, minute, second, systemClock } from '../core/clock.ts'
import { type Finding, failure, fine, warning } from '../core/finding.ts'
import { version } from '../core/version.ts'
import type { Database } from '../db/index.ts'
import { MailError } from '../modules/mail/mail.error.ts'
import { createMailer, greetMailServer } from '../modules/mail/mail.service.ts'
import { readMailQueue } from '../modules/mail/mail.status.ts'
import { readWebhookQueue } from '../modules/webhooks/webhooks.status.ts'

const [certificateDays, answerMs] = [14, 5 * second]
const lateMs = 15 * minute

/** Calls the server through its public address, as browsers and programs do. */
export async function checkAddress({ publicUrl, trustProxy }: Config): Promise<Finding[]> {
  if (publicUrl === undefined) return [fine('PUBLIC_URL is not set: the server is for this machine.')]
  const findings: Finding[] = []
  const { protocol, hostname, port } = new URL(publicUrl)
  if (protocol === 'https:') {
    if (trustProxy === false)
      findings.push(
        warning(
          'The addresses of visitors are those of the proxy, because no proxy is trusted.',
          'Set TRUST_PROXY=1, or to the address of the proxy.',
        ),
      )
    findings.push(await checkCertificate(hostname.replace(/^\[|\]$/g, ''), Number(port || 443)))
  }
  return [...findings, await callItself(publicUrl)]
}

async function callItself(publicUrl: string): Promise<Finding> {
  const fix = 'Correct PUBLIC_URL, or let the proxy pass requests to HOST and PORT of the server.'
  try {
    const response = await fetch(`${publicUrl}/api/config`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    })
    const { data } = (await response.json()) as { data?: { version?: unknown } }
    if (response.ok && data?.version === version) return fine(`Keyward ${version} answers at PUBLIC_URL.`)
    return typeof data?.version === 'string'
      ? warning('Another version answers at PUBLIC_URL.', 'Restart the server after an upgrade.')
      : failure('Something else than Keyward answers at PUBLIC_URL.', fix)
  } catch {
    return failure('Nothing that is Keyward answers at PUBLIC_URL.', fix)
  }
}

/** Reads the certificate even if it is not trusted. */
const checkCertificate = (host: string, port: number): Promise<Finding> =>
  new Promise((resolve) => {
    const fix = `Renew the certificate of ${host} at the proxy, and let it serve the whole chain.`
    const socket = connect({
      host,
      port,
      ...(isIP(host) ? {} : { servername: host }),
      rejectUnauthorized: false,
      timeout: answerMs,
    })
    const end = (finding: Finding) => {
      socket.destroy()
      resolve(finding)
    }
    socket.on('error', () => end(failure(`No TLS connection to ${host}:${port} is possible.`, fix)))
    socket.on('timeout', () => end(failure(`${host}:${port} does not answer.`, fix)))
    socket.on('secureConnect', () => {
      const days = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - systemClock.now()) / day)
      if (days < 0) return end(failure(`The certificate of ${host} has expired.`, fix))
      if (!socket.authorized) return end(failure(`The certificate of ${host} is not trusted here.`, fix))
      const text = `The certificate of ${host} is valid for ${days} days.`
      end(days < certificateDays ? warning(text, fix) : fine(text))
    })
  })

/** Sends a mail only if an address is given. */
export async function checkMail(config: Config, to: string | undefined): Promise<Finding[]> {
  const { smtpUrl } = config
  if (smtpUrl === undefined) {
    const text = 'No mail server is set: mails are only written to the log.'
    return [(to === undefined ? warning : failure)(text, 'Set SMTP_URL and MAIL_FROM.')]
  }
  try {
    if (to === undefined) await greetMailServer(smtpUrl)
    else {
      const mailer = createMailer(config, { info: () => {} })
      const text = 'This mail was sent by keyward doctor: mails of your server arrive.'
      await mailer.send({ to, subject: 'Keyward: a test', text }).finally(() => mailer.close())
    }
  } catch (error) {
    const reason = error instanceof MailError ? error.message : 'the mail server does not answer'
    return [failure(`${reason}.`, 'Correct SMTP_URL (host, port, name and password) and MAIL_FROM.')]
  }
  return [
    fine(to === undefined ? 'The mail server accepts the sign-in.' : 'The mail server took the test mail.'),
  ]
}

export function checkPayments({ payments }: Config): Promise<Finding[]> {
  const text = 'Payments are simulated: premium costs nothing.'
  return Promise.resolve([
    payments.mode === 'mock'
      ? warning(text, 'Set PAYMENTS=razorpay with its keys, or PAYMENTS=off.')
      : fine(`Payments: ${payments.mode}.`),
  ])
}

export async function checkQueues({ db }: Database): Promise<Finding[]> {
  const now = systemClock.now()
  const fixes = { mails: 'keyward doctor --mail you@example.com', webhooks: 'keyward outbox --json' }
  const states = await Promise.all([readMailQueue(db, now), readWebhookQueue(db, now)])
  return states.map(({ queue, waiting, waitingSince, failing, failedLastDay }) => {
    const text = `${queue}: ${waiting} waiting, ${failing} of them failing, ${failedLastDay} given up in the last day.`
    const isLate = waitingSince !== null && now - waitingSince > lateMs
    const isBad = isLate || failing > 0 || failedLastDay > 0
    return isBad ? warning(text, fixes[queue as keyof typeof fixes]) : fine(text)
  })
}

export async function checkWebhooks({ db }: Database): Promise<Finding[]> {
  const { n } = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('pause_reason', 'is not', null)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  const text = `${n} webhooks are paused by the server.`
  return [
    Number(n) > 0
      ? warning(text, 'Their vendors repair the receiver and resume them under Webhooks in the console.')
      : fine(text),
  ]
}

export async function checkShops({ db }: Database): Promise<Finding[]> {
  const { n } = await db
    .selectFrom('shop_events')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('state', '=', 'waiting')
    .where('received_at', '<', systemClock.now() - lateMs)
    .executeTakeFirstOrThrow()
  const text = `${n} events of shops wait for more than ${lateMs / minute} minutes.`
  return [
    Number(n) > 0
      ? warning(text, 'Their vendors open the shop in the console: it says what each order waits for.')
      : fine(text),
  ]
}
