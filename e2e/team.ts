import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { APIRequestContext } from '@playwright/test'
import { expect, type Keyward } from './keyward.ts'
import { unique, Vendor } from './steps.ts'

export interface Rights {
  role: 'manager' | 'support' | 'viewer'
  /** Ids of apps; all without them. */
  apps?: string[]
}

/** Invites an address and returns the link. */
export const invite = async (vendor: Vendor, email: string, rights: Rights): Promise<string> =>
  (await vendor.call('POST', '/members', { email, ...rights })).link

/** Accepts the invitation of a link by API: with a name as a new person. */
export async function accept(
  request: APIRequestContext,
  link: string,
  person: { name?: string; email: string; password: string },
): Promise<Vendor> {
  const { name, password } = person
  const token = new URL(link, 'http://keyward.test').hash.slice(1)
  const answer = await request.post('/api/auth/invitations/accept', { data: { token, name, password } })
  const { success, data, message } = await answer.json()
  expect(success, message).toBe(true)
  return Vendor.as(request, { ...person, name: data.user.name, token: data.token })
}

/** A new person in the team of a vendor. */
export async function addMember(
  request: APIRequestContext,
  vendor: Vendor,
  rights: Rights,
  name = 'Mia Member',
): Promise<Vendor> {
  const email = `${unique('member')}@example.com`
  const link = await invite(vendor, email, rights)
  return accept(request, link, { name, email, password: unique('long-enough') })
}

/** Expires every invitation. */
export function expireInvitations(keyward: Keyward) {
  const database = new DatabaseSync(join(keyward.dataDir, 'keyward.db'), { timeout: 5000 })
  database.prepare('update members set token_expires_at = ? where token_expires_at is not null').run(1)
  database.close()
}
