import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Adapter } from './adapter.ts'
import { findLanguage, type LanguageName } from './languages.ts'
import { activations } from './suites/activations.ts'
import { answers } from './suites/answers.ts'
import { attacked } from './suites/attacks.ts'
import { away } from './suites/away.ts'
import { everyCall } from './suites/calls.ts'
import { clocks } from './suites/clocks.ts'
import { hwids } from './suites/hwids.ts'
import { keySets } from './suites/key-sets.ts'
import { keySignIns } from './suites/key-sign-ins.ts'
import { leases } from './suites/leases.ts'
import { live } from './suites/live.ts'
import { locks } from './suites/locks.ts'
import { offline } from './suites/offline.ts'
import { requests } from './suites/requests.ts'
import { retries } from './suites/retries.ts'
import { signOuts } from './suites/sign-outs.ts'
import { signatures } from './suites/signatures.ts'
import { storage } from './suites/storage.ts'
import { updates } from './suites/updates.ts'
import { variables } from './suites/variables.ts'

/** Every test that the SDK of one language must pass. */
export function conformance(name: LanguageName): void {
  const { missing, command } = findLanguage(name)
  const title = missing === undefined ? name : `${name} (${missing})`
  describe.skipIf(missing !== undefined)(`the SDK for ${title}`, () => {
    let running: Adapter
    beforeAll(async () => {
      running = await Adapter.start(await command())
    }, 600_000)
    afterAll(() => running?.stop())
    const adapter = () => running

    answers(adapter)
    signatures(adapter)
    hwids(adapter)
    keySets(adapter)
    leases(adapter, 'lease')
    leases(adapter, 'activation')
    requests(adapter)
    retries(adapter)
    everyCall(adapter, name)
    attacked(adapter)
    offline(adapter)
    activations(adapter)
    storage(adapter)
    locks(adapter)
    signOuts(adapter)
    live(adapter)
    away(adapter)
    clocks(adapter)
    keySignIns(adapter)
    variables(adapter)
    updates(adapter)

    it('ends with its input', async () => {
      const other = await Adapter.start(await command())
      expect(await other.ask({ op: 'new', id: 'a', options: {} })).toMatchObject({
        error: { kind: 'usage', code: 'invalid_options' },
      })
      expect(await other.stop()).toBe(0)
    })
  })
}
