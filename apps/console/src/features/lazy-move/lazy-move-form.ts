import type { LazyMove, OldProtocol } from '@keyward/contract'
import { newLazyMove, oldProtocols } from '@keyward/contract/lazy-move'
import { z } from 'zod'
import { addDuration, endOfLocalDay, toDayInput } from '../../lib/format/dates.ts'
import type { NewLazyMove } from './queries.ts'

/** What a program of a protocol has of its provider, with which its answers are verified. */
export const proofOf: Record<OldProtocol, 'secret' | 'publicKey' | null> = {
  '1.0': 'secret',
  '1.1': null,
  '1.2': 'secret',
  '1.3': 'publicKey',
}

const usualUrl = (protocol: string) => `https://keyauth.win/api/${protocol}/`

/** The address after the protocol was changed: one that the vendor typed stays. */
export const urlAfter = (url: string, protocol: OldProtocol): string =>
  oldProtocols.some((one) => url === usualUrl(one)) ? usualUrl(protocol) : url

/** The end of the chosen day here; one that stays keeps its moment, which may be in the middle of a day here. */
function untilOf(lastDay: string, saved: string | null): string {
  return saved !== null && lastDay === toDayInput(saved) ? saved : endOfLocalDay(lastDay)
}

const values = z.object({
  url: z.string(),
  protocol: z.enum(oldProtocols),
  name: z.string(),
  ownerId: z.string(),
  secret: z.string(),
  publicKey: z.string(),
  lastDay: z.string().min(1, 'Choose the last day'),
})
type Values = z.output<typeof values>

function toBody({ lastDay, secret, publicKey, ...rest }: Values, saved: string | null): NewLazyMove {
  const proof = proofOf[rest.protocol]
  return {
    ...rest,
    secret: proof === 'secret' ? secret.trim() || null : null,
    publicKey: proof === 'publicKey' ? publicKey.trim() || null : null,
    until: untilOf(lastDay, saved),
  }
}

/** The schema of the form: what the server accepts, and a day that is not over. */
export const lazyMoveSchema = (saved: string | null) =>
  values
    .check(({ value, issues }) => {
      if (value.lastDay === '') return
      const body = toBody(value, saved)
      if (Date.parse(body.until ?? '') <= Date.now()) {
        issues.push({
          ...{ code: 'custom', path: ['lastDay'], input: value },
          message: 'Choose a day that is not over',
        })
      }
      for (const { path, message } of newLazyMove.safeParse(body).error?.issues ?? [])
        issues.push({
          code: 'custom',
          path: path[0] === 'until' ? ['lastDay'] : [...path],
          message,
          input: value,
        })
    })
    .transform((value) => toBody(value, saved))

/** What the dialog shows first; a move that has ended gets another quarter of a year. */
export function lazyMoveDefaults(saved: LazyMove, appName: string): Values {
  const now = Date.now()
  const isOver = saved.until === null || Date.parse(saved.until) <= now
  const protocol = saved.protocol ?? '1.2'
  return {
    url: saved.url ?? usualUrl(protocol),
    protocol,
    name: saved.name ?? appName,
    ownerId: saved.ownerId ?? '',
    secret: saved.secret ?? '',
    publicKey: saved.publicKey ?? '',
    lastDay: toDayInput(isOver ? addDuration(now, 3, 'months') : (saved.until ?? now)),
  }
}

/** The settings as they are, with another end. */
export function withEnd(saved: LazyMove, until: string | null): NewLazyMove | undefined {
  const { url, protocol, name, ownerId, secret, publicKey } = saved
  if (url === null || protocol === null || name === null || ownerId === null) return undefined
  return { url, protocol, name, ownerId, secret, publicKey, until }
}
