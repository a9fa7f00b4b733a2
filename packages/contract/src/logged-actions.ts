import type { ActionName } from './actions.ts'

// This file has no schemas: a page of the console loads it.

/** Actions of programs that are so frequent that the audit log leaves them out: they could fill the disk. */
const unlogged: ReadonlySet<ActionName> = new Set([
  'end_user.signed_in',
  'end_user.signed_out',
  'device.bound',
  'end_user.lease_issued',
  'device.remembered',
  // As often as a customer likes.
  'customer.signed_in',
  'customer.signed_out',
])

/** A program can repeat these as often as it likes with one key, so they are left out if a program caused them. */
const unloggedOfPrograms: ReadonlySet<ActionName> = new Set([
  'device.drifted',
  'device.forgotten',
  'device.freed',
  'end_user.updated',
  'end_user.variables_changed',
])

/** Whether the audit log stores an action. What it leaves out of programs is in the activity log, which counts equal ones. */
export const isLogged = (action: ActionName, actorKind: string): boolean =>
  !unlogged.has(action) && !(actorKind === 'program' && unloggedOfPrograms.has(action))
