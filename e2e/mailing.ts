import { DatabaseSync } from 'node:sqlite'
import { expect } from '@playwright/test'
import { mailedLinks } from '../apps/server/test/mailed.ts'
import type { SmtpSink } from '../apps/server/test/smtp-sink.ts'
import { test as base, type Keyward } from './keyward.ts'

/** A server that sends mail by SMTP to a mail server that stores it. */
export const test = base.extend({
  environment: async ({ mails }, use) => use({ SMTP_URL: `smtp://${mails.host}` }),
})

/** The link in the only mail to this address, or in the one with this number. */
export async function mailedLink(mails: SmtpSink, to: string, number = 1): Promise<string> {
  await expect.poll(() => mailedLinks(mails, to).length).toBe(number)
  return mailedLinks(mails, to)[number - 1] ?? ''
}

/** Lets all vendors of this server mail buyers, although their addresses are not confirmed. */
export function trustMails(keyward: Keyward) {
  const database = new DatabaseSync(`${keyward.dataDir}/keyward.db`, { timeout: 5000 })
  database.exec('update owners set mails_trusted = 1')
  database.close()
}
