import { expect } from '@playwright/test'
import { mailedLinks } from '../apps/server/test/mailed.ts'
import { SmtpSink } from '../apps/server/test/smtp-sink.ts'
import { test as base } from './keyward.ts'

/** A server that mails by SMTP, to a mail server that keeps what it gets. */
export const test = base.extend<object, { mails: SmtpSink }>({
  mails: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads what a fixture needs from here
    async ({}, use) => {
      const sink = await SmtpSink.start()
      await use(sink)
      await sink.stop()
    },
    { scope: 'worker' },
  ],
  environment: [async ({ mails }, use) => use({ SMTP_URL: `smtp://${mails.host}` }), { scope: 'worker' }],
})

/** The link of the only message with one that this address has got, or of the one with this number. */
export async function mailedLink(mails: SmtpSink, to: string, number = 1): Promise<string> {
  await expect.poll(() => mailedLinks(mails, to).length).toBe(number)
  return mailedLinks(mails, to)[number - 1] ?? ''
}
