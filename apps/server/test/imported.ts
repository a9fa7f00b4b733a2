import type { Import } from '@keyward/contract'
import { expect } from 'vitest'
import type { Owner } from './actors.ts'
import { startOfTests } from './migrated.ts'

export const hashOfRing = '$2y$10$PMVE3L.XXdURnV8LirvwY.3adQybhxo9Jb77uH8n5OzEJq6y1QCRS'

const inAYear = String(Math.round(startOfTests / 1000) + 365 * 86_400)

/** A file of end users, whose subscriptions end in a year. */
export const usersFile = (
  users: { username: string }[],
  subscription: object[] = users.map((one) => ({ user: one.username, expiry: inAYear })),
) => ({ name: 'KeyAuthUsers.json', content: JSON.stringify({ users, subscription }) })

export const keysFile = (keys: object[]) => ({ name: 'KeyAuthKeys.json', content: JSON.stringify(keys) })

export const keyAuthUser = (username: string, more: object = {}) => ({
  ...{ email: null, password: hashOfRing, hwid: null, banned: null, ip: null },
  ...more,
  username,
})

/** Waits until the server has finished what an import does in the background. */
export async function settled(owner: Owner, id: string): Promise<Import> {
  const read = async (): Promise<Import> => (await owner.call('GET', `/imports/${id}`)).json.data.import
  const busy = ['checking', 'running', 'undoing']
  await expect.poll(async () => busy.includes((await read()).state), { timeout: 60_000 }).toBe(false)
  return read()
}

export async function prepareImport(
  owner: Owner,
  app: { _id: string },
  files: { name: string; content: string }[],
  preset = 'keyauth',
): Promise<Import> {
  const answer = await owner.call('POST', '/imports', { app: app._id, preset, files })
  expect(answer.status).toBe(201)
  return answer.json.data.import
}

export async function runImport(
  owner: Owner,
  id: string,
  dryRun: boolean,
  answers: Record<string, string> = {},
): Promise<Import> {
  const answer = await owner.call('POST', `/imports/${id}/run`, { dryRun, answers })
  expect(answer.status).toBe(200)
  return settled(owner, id)
}

/** Tries an import, and runs it with the first choice of each question. */
export async function runAnswered(owner: Owner, id: string): Promise<Import> {
  const { questions, problem } = await runImport(owner, id, true)
  expect(problem).toBeNull()
  const answers = Object.fromEntries(questions.map(({ name, choices }) => [name, choices[0]?.value ?? '']))
  return runImport(owner, id, false, answers)
}

/** Imports files, with the first choice of each question. */
export async function importAll(
  owner: Owner,
  app: { _id: string },
  files: { name: string; content: string }[],
): Promise<Import> {
  return runAnswered(owner, (await prepareImport(owner, app, files))._id)
}

export const rowsOf = async (owner: Owner, id: string) =>
  (await owner.call('GET', `/imports/${id}?limit=200`)).json.data.rows
