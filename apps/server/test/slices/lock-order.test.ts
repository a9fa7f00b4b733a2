import { expect, test } from 'vitest'
import { activateKey, makeLicenses, single } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

type Setup = Awaited<ReturnType<typeof activateKey>>

test.each<[what: string, change: (setup: Setup) => Promise<unknown>]>([
  ['extending an end user', ({ user }) => owner.call('PATCH', `/clients/${user._id}/extend`, { days: 3 })],
  [
    'extending several end users',
    ({ user }) => owner.call('POST', '/clients/bulk', { action: 'extend', ids: [user._id], days: 3 }),
  ],
  [
    'upgrading by a key',
    async ({ program, user }) => {
      const { key } = single(await makeLicenses(on, owner, app))
      return program.call('POST', '/upgrade', { username: user.username, licenseKey: key })
    },
  ],
  [
    'setting the end of a license',
    ({ license }) => owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(90) }),
  ],
])('%s changes licenses, and so their counts, before end users', async (_what, change) => {
  const setup = await activateKey(on, owner, app)
  const sent = await statementsOf(on.database, async () => {
    expect(await change(setup)).toMatchObject({ status: 200 })
  })
  const changed = sent
    .map(({ text }) => /^update "(licenses|clients)" set .*expires_at/.exec(text)?.[1])
    .filter(Boolean)
  expect([...new Set(changed)]).toEqual(['licenses', 'clients'])
})
