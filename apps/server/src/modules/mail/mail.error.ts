/** Fields of a nodemailer error. Its message may quote the mail, so it is not passed on. */
interface Failure {
  code?: unknown
  originalCode?: unknown
  command?: unknown
  responseCode?: unknown
}

/** The message itself cannot be sent, or there is no mail server. */
const refusals = new Set(['EMESSAGE', 'EUNSENDABLE', 'ENOSMTP', 'EOPEN'])

/** The mail server did not accept a message. The text contains neither the server's address nor its password. */
export class MailError extends Error {
  override name = 'MailError'
  readonly code: string
  /** The server rejected only this message; the next one may succeed. */
  readonly isAboutMessage: boolean
  /** Retrying the same message soon would fail again. */
  readonly isPermanent: boolean

  constructor({ code, originalCode, command, responseCode }: Failure) {
    const facts = [code, originalCode, command, responseCode].filter(Boolean)
    super(`the mail was not sent (${facts.join(', ') || 'unknown reason'})`)
    this.code = String(code ?? 'EMAIL')
    const isRefusal = refusals.has(String(code)) || (code === 'EENVELOPE' && command !== 'MAIL FROM')
    this.isAboutMessage = isRefusal && responseCode !== 421
    const reply = typeof responseCode === 'number' ? responseCode : 500
    this.isPermanent = this.isAboutMessage && reply >= 500 && reply !== 503
  }
}
