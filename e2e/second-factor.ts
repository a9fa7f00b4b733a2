import { createHmac } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from '@playwright/test'
import { expect, type Keyward } from './keyward.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code of an authenticator app, RFC 6238. It is accepted for half a minute at least, and once: see `forgetCodes`. */
export function codeOf(secret: string, stepsAhead = 0): string {
  const bits = [...secret.replaceAll(' ', '')]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + stepsAhead))
  const hash = createHmac('sha1', key).update(counter).digest()
  const number = hash.readUInt32BE(hash.at(-1)! & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** Adds an authenticator with user verification to the browser, which approves at once. */
export async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** Passkeys belong to a host name. */
export const atHostName = (url: string) => url.replace('127.0.0.1', 'localhost')

/** Sets an authenticator app up on the page of security, and returns its secret and the recovery codes. */
export async function setUpApp(page: Page, keyward: Keyward) {
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
  const form = page.getByRole('dialog', { name: 'Set Up an Authenticator App' })
  await expect(form.getByRole('img', { name: 'QR code for an authenticator app' })).toBeVisible()
  const secret = (await form.locator('code').textContent()) ?? ''
  await form.getByLabel('Code', { exact: true }).fill(codeOf(secret))
  await form.getByRole('button', { name: 'Turn On' }).click()
  const recoveryCodes = await saveRecoveryCodes(page)
  forgetCodes(keyward)
  return { secret, recoveryCodes }
}

export async function saveRecoveryCodes(page: Page) {
  const shown = page.getByRole('dialog', { name: 'Save Your Recovery Codes' })
  await expect(shown.getByRole('listitem')).toHaveCount(10)
  const codes = await shown.getByRole('listitem').allTextContents()
  await expect(shown.getByRole('button', { name: 'Done' })).toBeDisabled()
  await shown.getByLabel('I saved these codes').check()
  await shown.getByRole('button', { name: 'Done' }).click()
  await expect(shown).toHaveCount(0)
  return codes
}

/** Makes every proof of identity on this server older than ten minutes. */
export const forgetProofs = (keyward: Keyward) =>
  change(
    keyward,
    ['owner_sessions', 'reseller_sessions'].map(
      (table) => `update ${table} set confirmed_at = confirmed_at - ${11 * 60_000}`,
    ),
  )

/** Lets every code of an authenticator app work again, as half a minute later a new one would. */
export const forgetCodes = (keyward: Keyward) => change(keyward, ['update second_factors set totp_step = 0'])

function change({ dataDir }: Keyward, statements: string[]) {
  const database = new DatabaseSync(`${dataDir}/keyward.db`, { timeout: 5000 })
  for (const statement of statements) database.exec(statement)
  database.close()
}
