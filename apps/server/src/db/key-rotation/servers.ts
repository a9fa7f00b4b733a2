// ADR 97: what a rotation has to know of running servers.
import { setTimeout as pause } from 'node:timers/promises'
import { second } from '../../core/clock.ts'
import { OperatorError } from '../../core/operator-error.ts'
import type { Db } from '../tables.ts'
import { readServers, type ServerKeys } from './state.ts'

const lookMs = 250
const answersMs = 60 * second
/** Servers answer every second; one that is silent for so long was killed. */
const silentMs = 15 * second
/** Every living server has answered by then. */
const leastMs = 4 * second

/** Remembers when the answer of each server changed last, by the clock of this process. */
class Answers {
  readonly #last = new Map<string, { server: ServerKeys; at: number }>()

  read(found: Map<string, ServerKeys>): ServerKeys[] {
    const now = performance.now()
    for (const id of this.#last.keys()) if (!found.has(id)) this.#last.delete(id)
    for (const [id, server] of found) {
      const known = this.#last.get(id)
      if (known?.server.beat !== server.beat) this.#last.set(id, { server, at: now })
    }
    return [...this.#last.values()].flatMap(({ server, at }) => (now - at < silentMs ? [server] : []))
  }
}

/** Waits until so many servers hold the new key. Throws, before anything has changed, if one does not. */
export async function awaitServers(
  db: Db,
  to: string,
  expected: number,
  beat: () => Promise<void>,
): Promise<void> {
  const answers = new Answers()
  const [began, leastUntil] = [performance.now(), performance.now() + leastMs]
  for (;;) {
    const servers = answers.read(await readServers(db, to))
    const without = servers.find(({ holds }) => !holds)
    if (without)
      throw new OperatorError(
        `A server on ${without.host} does not hold the new key: restart it with SECRET_KEY and SECRET_KEY_PREVIOUS, then repeat. Nothing was changed.`,
      )
    const found = servers.length
    if (found === expected && performance.now() >= leastUntil) return
    if (performance.now() - began > answersMs || (found > expected && performance.now() >= leastUntil))
      throw new OperatorError(
        `${found} servers answer, not ${expected}: every server has to run, with this version. Nothing was changed.`,
      )
    await pause(lookMs)
    await beat()
  }
}

/** Waits until every server seals with the new key. */
export async function awaitSealing(
  db: Db,
  to: string,
  tell: (line: string) => void,
  beat: () => Promise<void>,
): Promise<void> {
  const answers = new Answers()
  const [began, leastUntil] = [performance.now(), performance.now() + leastMs]
  let isTold = false
  for (;;) {
    const servers = answers.read(await readServers(db, to))
    const old = servers.find(({ seals }) => seals !== to)
    if (!old && performance.now() >= leastUntil) return
    if (old && !isTold && performance.now() >= leastUntil) {
      tell(`Waiting for a server on ${old.host}.`)
      isTold = true
    }
    if (performance.now() - began > answersMs)
      throw new OperatorError(
        `A server on ${old?.host} does not turn to the new key: stop it, then repeat. Both keys are still needed.`,
      )
    await pause(lookMs)
    await beat()
  }
}
