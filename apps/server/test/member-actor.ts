import { expect } from 'vitest'
import type { Owner } from './actors.ts'
import type { TestServer } from './harness.ts'

let people = 0

/** A person in the team of a vendor. */
export interface Member {
  /** The membership's id. */
  _id: string
  accountId: string
  email: string
  password: string
  token: string
  call: Owner['call']
}

export const newAddress = (): string => `member${++people}@example.com`

export interface Invited {
  _id: string
  email: string
  token: string
  link: string
}

/** Invites a person; `token` is the secret of the link. */
export async function invite(owner: Pick<Owner, 'call'>, wanted: object = {}): Promise<Invited> {
  const body = { email: newAddress(), role: 'support', ...wanted }
  const { status, json } = await owner.call('POST', '/members', body)
  expect(status).toBe(201)
  const { member, link } = json.data
  return { _id: member._id, email: body.email, token: link.split('#')[1], link }
}

/** Invites a person without an account, who accepts. */
export async function addMember(
  on: TestServer,
  owner: Pick<Owner, 'call'>,
  wanted: object = {},
): Promise<Member> {
  const { _id, email, token: secret } = await invite(owner, wanted)
  const password = 'battery staple'
  const body = { token: secret, name: 'Grace', password }
  const { status, json } = await on.call('POST', '/auth/invitations/accept', { body })
  expect(status).toBe(200)
  const { token, user } = json.data
  return {
    ...{ _id, email, password, token },
    accountId: user._id,
    call: (method, path, sent) => on.call(method, path, { token, body: sent }),
  }
}

/** Adds a person with an account to the team; returns the token of the session at the vendor. */
export async function addPerson(
  on: TestServer,
  owner: Pick<Owner, 'call'>,
  person: { email: string; password: string },
  wanted: object = {},
): Promise<{ _id: string; token: string }> {
  const { _id, token } = await invite(owner, { ...wanted, email: person.email })
  const body = { token, password: person.password }
  const { status, json } = await on.call('POST', '/auth/invitations/accept', { body })
  expect(status).toBe(200)
  return { _id, token: json.data.token }
}
