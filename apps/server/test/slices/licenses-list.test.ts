// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { day, hour, minute } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, makePremium, type Owner, signUp, startProgram } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'

const on = serverForAll()

interface Listed {
  _id: string
  used: boolean
  banned: boolean
  status: string
  expiresAt: string
  createdAt: string
}

const list = async (owner: Owner, query: string) => (await owner.call('GET', `/licenses?${query}`)).json.data

describe('pages', () => {
  let owner: Owner
  let made: string[]
  beforeEach(async () => {
    owner = await signUp(on)
    const app = await makeApp(owner)
    made = (await makeLicenses(on, owner, app, 23)).map((license) => license._id).reverse()
  })

  test('contain every license once, newest first, with a short last page', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => list(owner, `limit=10&page=${page}`)))
    expect(pages.map((page) => page.licenses.length)).toEqual([10, 10, 3])
    expect(pages.flatMap((page) => page.licenses.map((one: Listed) => one._id))).toEqual(made)
    expect(pages.map((page) => page.pagination)).toEqual(
      [1, 2, 3].map((page) => ({ page, limit: 10, total: 23, pages: 3 })),
    )
  })

  test('after the last one are empty', async () => {
    expect(await list(owner, 'limit=10&page=4')).toMatchObject({
      licenses: [],
      pagination: { page: 4, total: 23, pages: 3 },
    })
  })

  test('hold 50 by default', async () => {
    expect((await list(owner, '')).pagination).toEqual({ page: 1, limit: 50, total: 23, pages: 1 })
  })

  test.each([
    'page=0',
    'page=-1',
    'page=x',
    'limit=0',
    'limit=201',
    'limit=',
    'status=new',
    'page=1.5',
    'page=1&page=2',
  ])('reject %s', async (query) => {
    expect((await owner.call('GET', `/licenses?${query}`)).status).toBe(400)
  })
})

/** Counts licenses one at a time by the specified rules. */
function recount(licenses: Listed[], now: number) {
  const expired = (one: Listed) => Date.parse(one.expiresAt) <= now
  const is = {
    active: (one: Listed) => one.used && !expired(one),
    unused: (one: Listed) => !one.used && !expired(one),
    expired,
    banned: (one: Listed) => one.banned,
  }
  const count = (test: (one: Listed) => boolean) => licenses.filter(test).length
  return {
    is,
    stats: {
      total: licenses.length,
      active: count(is.active),
      unused: count(is.unused),
      expired: count(is.expired),
      banned: count(is.banned),
    },
  }
}

type Step =
  | { what: 'make'; app: number; count: number; inMs: number }
  | { what: 'use' | 'ban' | 'delete'; which: number }
  | { what: 'expiry'; which: number; inMs: number }
  | { what: 'wait'; ms: number }
  | { what: 'free'; which: number }
  | { what: 'deleteAll'; app: number }

const position = fc.nat({ max: 1000 })
const span = fc.oneof(fc.integer({ min: 1, max: 3 * hour }), fc.constantFrom(hour, day, 30 * day))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('make' as const),
      app: fc.nat(1),
      count: fc.integer({ min: 1, max: 6 }),
      inMs: span,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constantFrom('use' as const, 'ban' as const, 'delete' as const),
      which: position,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('expiry' as const),
      which: position,
      inMs: fc.oneof(span, fc.constant(-day)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 2 * hour }), fc.constant(20 * minute)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('free' as const), which: position }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('deleteAll' as const), app: fc.nat(1) }) },
)

async function runStep(owner: Owner, apps: Awaited<ReturnType<typeof makeApp>>[], step: Step): Promise<void> {
  const all = (await list(owner, 'limit=200')).licenses as (Listed & {
    key: string
    app: { _id: string }
    usedBy: { _id: string } | null
  })[]
  const chosen = 'which' in step ? all[step.which % Math.max(1, all.length)] : undefined
  const at = (ms: number) => new Date(on.clock.now() + ms).toISOString()
  if (step.what === 'wait') return on.clock.advance(step.ms)
  if (step.what === 'make') {
    const app = apps[step.app]?._id
    await owner.call('POST', '/licenses', { app, count: step.count, expiresAt: at(step.inMs) })
  } else if (step.what === 'deleteAll') {
    await owner.call('DELETE', `/licenses?app=${apps[step.app]?._id}`)
  } else if (!chosen) {
    return
  } else if (step.what === 'use') {
    const app = apps.find((one) => one._id === chosen.app._id)
    if (!app) throw new Error('the license belongs to no app')
    const program = await startProgram(on, app)
    await program.call('POST', '/license', { licenseKey: chosen.key })
  } else if (step.what === 'ban') {
    await owner.call('PATCH', `/licenses/${chosen._id}/toggle-ban`)
  } else if (step.what === 'delete') {
    await owner.call('DELETE', `/licenses/${chosen._id}`)
  } else if (step.what === 'expiry') {
    await owner.call('PUT', `/licenses/${chosen._id}`, { expiresAt: at(step.inMs) })
  } else if (chosen.usedBy) {
    await owner.call('DELETE', `/clients/${chosen.usedBy._id}`)
  }
}

describe('after any sequence of changes', () => {
  test('counts, filters and statuses match a recount', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
        const owner = await signUp(on)
        await makePremium(on, owner)
        const apps = [await makeApp(owner, 'One'), await makeApp(owner, 'Two')]
        for (const one of steps) await runStep(owner, apps, one)
        for (const filter of ['', ...apps.map((app) => `&app=${app._id}`)]) {
          const { licenses, stats } = await list(owner, `limit=200${filter}`)
          const expected = recount(licenses, on.clock.now())
          expect(stats).toEqual(expected.stats)
          for (const status of ['active', 'unused', 'expired', 'banned'] as const) {
            const found = await list(owner, `limit=200&status=${status}${filter}`)
            const matching = licenses.filter(expected.is[status])
            expect(found.licenses).toEqual(matching)
            expect(found.pagination.total).toBe(matching.length)
            expect(found.stats).toEqual(expected.stats)
          }
          for (const one of licenses as Listed[]) {
            const shown = one.banned
              ? 'banned'
              : expected.is.expired(one)
                ? 'expired'
                : one.used
                  ? 'active'
                  : 'unused'
            expect(one.status).toBe(shown)
          }
        }
      }),
      { numRuns: 8 },
    )
  })
})
