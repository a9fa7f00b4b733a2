/** What nodemailer says beside a text; the text may quote what was sent, so it goes no further. */
interface Failure {
  code?: unknown
  originalCode?: unknown
  command?: unknown
  responseCode?: unknown
}

/** A message that the mail server did not take. Neither address nor password of the server is in it. */
export class MailError extends Error {
  override name = 'MailError'
  readonly code: string
  /** The server took none of this message alone; the next one may pass. */
  readonly isAboutMessage: boolean
  /** Sending the same message again soon would be refused again. */
  readonly isPermanent: boolean

  constructor({ code, originalCode, command, responseCode }: Failure) {
    const facts = [code, originalCode, command, responseCode].filter(Boolean)
    super(`the mail was not sent (${facts.join(', ') || 'unknown reason'})`)
    this.code = String(code ?? 'EMAIL')
    const isRefusal =
      code === 'EMESSAGE' || code === 'EUNSENDABLE' || (code === 'EENVELOPE' && command !== 'MAIL FROM')
    this.isAboutMessage = isRefusal && responseCode !== 421
    const reply = typeof responseCode === 'number' ? responseCode : 500
    this.isPermanent = this.isAboutMessage && reply >= 500 && reply !== 503
  }
}
