import { apiKeyPermissions, type Client, type License } from '@keyward/contract'
import { day } from '../src/core/clock.ts'
import { makeApp, makeType, type Program, signUp } from './actors.ts'
import { makeApiKey } from './api-key-actor.ts'
import type { TestServer } from './harness.ts'
import { isTold, type Step } from './histories.ts'
import { type TypeName, types } from './history-model.ts'
import { startOfTests } from './migrated.ts'
import { makeShop } from './shop-actor.ts'

/** An app in which a history happens, and what is known of it. */
export type Run = Awaited<ReturnType<typeof begin>>

/** Makes an app of a new vendor with all types, and a shop that sells them. */
export async function begin(on: TestServer, number: number, steps: readonly Step[]) {
  // Each history begins on another day, so that there are months of each length.
  on.clock.advance(startOfTests + ((number * 37) % 1461) * day - on.clock.now())
  const owner = await signUp(on)
  const app = await makeApp(owner)
  const settings = { allowCustomLicenseKey: true }
  const [{ call }, , ...made] = await Promise.all([
    // A session of the owner would end before a long history does.
    makeApiKey(on, owner, { permissions: apiKeyPermissions }),
    steps.some(({ kind }) => kind === 'import') && owner.call('PUT', `/apps/${app._id}`, { settings }),
    ...Object.entries(types).map(([name, terms]) => makeType(owner, app, { duration: null, ...terms, name })),
  ])
  const typeIds = Object.fromEntries(made.map(({ _id, name }) => [name, _id])) as Record<TypeName, string>
  const products = Object.entries(typeIds).map(([product, type]) => ({ product, type }))
  const shop = steps.some(isTold) ? await makeShop(owner, app._id, products) : undefined
  return {
    ...{ on, app, typeIds, shop },
    vendor: { call: (method: string, path: string, body?: unknown) => call(method, path, body) },
    /** The keys of licenses by the names that steps use. */
    keys: new Map<string, string>(),
    usernames: new Map<string, string>(),
    /** The names of end users with a password. */
    withPassword: new Set<string>(),
    /** The ids of licenses, end users and orders that exist or existed. */
    ids: new Map<string, string>(),
    /** The program that each end user signed in with last. */
    programs: new Map<string, Program>(),
    /** The machine of that program. */
    hwids: new Map<string, unknown>(),
    /** What takes back a step, by its number. */
    undos: new Map<number, { noun: string; rows: unknown[] }>(),
    licenses: new Map<string, License>(),
    users: new Map<string, Client>(),
    orders: new Map<string, string>(),
  }
}
