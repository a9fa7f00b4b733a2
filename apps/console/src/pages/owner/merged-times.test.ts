import type { ActivityEvent, AuditRecord } from '@keyward/contract'
import { expect, test } from 'vitest'
import { inOrder, mergeNewest, withoutRecorded, withoutRepeated } from './merged-times.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 4, 10, minute)).toISOString()
const rows = (...minutes: number[]) => minutes.map((minute) => ({ at: at(minute) }))

test('shows no row before all sources are loaded down to its time', () => {
  const loaded: string[] = []
  const busy = { rows: rows(9, 8), more: () => loaded.push('busy'), lastAt: at(8) }
  const quiet = { rows: rows(10, 2), more: () => loaded.push('quiet'), lastAt: at(2) }
  const whole = { rows: [...rows(1, 8), { at: null }], more: undefined, lastAt: undefined }
  const { shown, earlier } = mergeNewest<{ at: string | null }>([busy, quiet, whole])
  expect(shown.map((row) => row.at)).toEqual([at(9), at(8), at(10), at(8)])
  earlier?.()
  expect(loaded).toEqual(['busy'])
  const all = mergeNewest<{ at: string | null }>([{ ...busy, more: undefined }, whole])
  expect(all.shown).toHaveLength(4)
  expect(all.earlier).toBeUndefined()
})

test('tells only once what a program did', () => {
  const record = (kind: string, action: string, minute: number) =>
    ({ actor: { kind }, action, at: at(minute) }) as AuditRecord
  const event = { kind: 'license.redeemed', at: at(3) } as ActivityEvent
  const kept = [
    record('owner', 'license.redeemed', 3),
    record('program', 'license.redeemed', 9),
    record('program', 'end_user.registered', 3),
  ]
  expect(withoutRepeated([...kept, record('program', 'license.redeemed', 3)], [event])).toEqual(kept)
})

test('leaves out a fact of an object that the log has as an event', () => {
  const known = [
    { at: at(1), recordedAs: 'licenses.created' },
    { at: at(3), recordedAs: 'end_user.registered' },
    { at: at(9) },
  ]
  const record = { action: 'licenses.created', at: at(1) } as AuditRecord
  const event = { kind: 'end_user.registered', at: at(3) } as ActivityEvent
  expect(withoutRecorded(known, [record], [event])).toEqual([{ at: at(9) }])
  expect(withoutRecorded(known, [], [{ ...event, at: at(5) }])).toEqual(known)
})

test('lists a registration before the device that it bound', () => {
  const event = (kind: string, minute: number, ms = 0) =>
    ({ kind, at: new Date(Date.parse(at(minute)) + ms).toISOString() }) as ActivityEvent
  const [login, registered, bound] = [
    event('end_user.signed_in', 4),
    event('end_user.registered', 3, 5),
    event('device.bound', 3),
  ]
  expect(inOrder([login, registered, bound]).map(({ kind }) => kind)).toEqual([
    'end_user.registered',
    'device.bound',
    'end_user.signed_in',
  ])
  const later = event('device.bound', 5)
  expect(inOrder([later, login])).toEqual([login, later])
})
