import { expect } from '@playwright/test'
import { mailedLinks } from '../apps/server/test/mailed.ts'
import { SmtpSink } from '../apps/server/test/smtp-sink.ts'
import { test as base } from './keyward.ts'

/** A server that sends mail by SMTP to a mail server that stores it. */
export const test = base.extend<object, { mails: SmtpSink }>({
  mails: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from this parameter
    async ({}, use) => {
      const sink = await SmtpSink.start()
      await use(sink)
      await sink.stop()
    },
    { scope: 'worker' },
  ],
  environment: [async ({ mails }, use) => use({ SMTP_URL: `smtp://${mails.host}` }), { scope: 'worker' }],
})

/** The link in the only mail to this address, or in the one with this number. */
export async function mailedLink(mails: SmtpSink, to: string, number = 1): Promise<string> {
  await expect.poll(() => mailedLinks(mails, to).length).toBe(number)
  return mailedLinks(mails, to)[number - 1] ?? ''
}
