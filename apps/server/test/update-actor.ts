import type { Release } from '@keyward/contract'
import { expect } from 'vitest'
import { type makeApp, makeLicenses, type Owner, type Program, single, startProgram } from './actors.ts'
import type { TestServer } from './harness.ts'

type App = Awaited<ReturnType<typeof makeApp>>

/** A vendor who lists releases of an app, and programs of it. */
export const updatesOn = (on: TestServer, owner: Owner, app: App) => {
  const start = async (version: string): Promise<Program['call']> =>
    (await startProgram(on, app, { version })).call
  return {
    start,
    /** Lists a release that is out in so many days. */
    async release(version: string, days: number, more: object = {}): Promise<Release> {
      const body = { version, releasedAt: on.clock.inDays(days), ...more }
      const { status, json } = await owner.call('POST', `/apps/${app._id}/releases`, body)
      expect([status, json.errors]).toEqual([201, undefined])
      return json.data.release
    },
    /** Makes a license whose updates end after 10 days. */
    async makeKey(change: object = {}): Promise<{ _id: string; key: string }> {
      const license = single(await makeLicenses(on, owner, app))
      await on.database.db
        .updateTable('licenses')
        .set({ updates_for_days: 10, ...change })
        .where('id', '=', license._id)
        .execute()
      return license
    },
    use: async (version: string, licenseKey: string) =>
      (await start(version))('POST', '/license', { licenseKey }),
  }
}
