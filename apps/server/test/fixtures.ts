import { afterAll, beforeAll, beforeEach } from 'vitest'
import { modules } from '../src/modules/index.ts'
import { tidy } from '../src/modules/system/housekeeping.ts'
import { makeApp, makePremium, type Owner, signUp } from './actors.ts'
import { startServer, type TestServer, transactionsOn } from './harness.ts'

// Call these where tests are declared: each returns an object at once that a hook fills before the tests run.

function filled<T extends object>(hook: typeof beforeAll | typeof beforeEach, make: () => Promise<T>): T {
  const made = {} as T
  hook(async () => {
    Object.assign(made, await make())
  })
  return made
}

/** A server with an empty database, closed after the tests. */
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

/** Runs the housekeeping that the server schedules every ten minutes. */
export const tidyUp = ({ clock, config, database, seal }: TestServer): Promise<void> =>
  tidy({ clock, config, seal, database, db: database.db, tx: transactionsOn(database, clock) }, modules)
