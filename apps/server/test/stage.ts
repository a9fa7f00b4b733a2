import { afterAll, beforeAll, beforeEach } from 'vitest'
import { tidy } from '../src/modules/system/housekeeping.ts'
import { makeApp, makePremium, type Owner, signUp } from './actors.ts'
import { startServer, type TestServer, transactionsOn } from './harness.ts'

// What the tests of a file or of a `describe` play on. Each of these is called where tests are declared: its object
// can be named at once, and is filled by the time the tests run.

function filled<T extends object>(hook: typeof beforeAll | typeof beforeEach, make: () => Promise<T>): T {
  const made = {} as T
  hook(async () => {
    Object.assign(made, await make())
  })
  return made
}

/** A server with an empty database, and its end. */
export function serverForAll(...options: Parameters<typeof startServer>): TestServer {
  const on = filled(beforeAll, () => startServer(...options))
  afterAll(() => on.close())
  return on
}

export const ownerForAll = (on: TestServer): Owner => filled(beforeAll, () => signUp(on))
export const ownerForEach = (on: TestServer): Owner => filled(beforeEach, () => signUp(on))

export const premiumOwnerForAll = (on: TestServer): Owner =>
  filled(beforeAll, async () => {
    const owner = await signUp(on)
    await makePremium(on, owner)
    return owner
  })

export const appForAll = (owner: Owner) => filled(beforeAll, () => makeApp(owner))
export const appForEach = (owner: Owner) => filled(beforeEach, () => makeApp(owner))

/** What the server does every ten minutes. */
export const tidyUp = ({ clock, config, database }: TestServer): Promise<void> =>
  tidy({ clock, config, db: database.db, tx: transactionsOn(database, clock) })
