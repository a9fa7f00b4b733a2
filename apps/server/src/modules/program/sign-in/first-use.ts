import type { Db } from '../../../db/index.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { deviceLimit } from '../../devices/devices.rules.ts'
import { atFirstUse } from '../../entitlements/term.rules.ts'
import { updatesUntil } from '../../entitlements/updates.rules.ts'
import { findReleasedAt } from '../../releases/releases.service.ts'
import { toDeviceFacts } from '../facts/device.ts'
import { toKeyFacts } from '../facts/end-user.ts'
import { refuseBy } from '../verdict/refusal.ts'
import { factsOf, type VerdictFacts } from '../verdict/verdict-facts.ts'
import type { SignInCall, SignInDevice } from './admit.ts'
import { keyUsed } from './key.ts'
import { toNewDevice } from './placeholder.ts'

/** Refuses a key that is used, or that could not be used here and now; otherwise returns what decided. */
export async function refuseFirstUse(
  db: Db,
  { call, app, version }: Pick<SignInCall<unknown>, 'call' | 'app' | 'version'>,
  license: LicenseRow,
  { device, now }: { device: SignInDevice; now: number },
): Promise<VerdictFacts> {
  const { machine, caller } = toNewDevice(device)
  if (license.used === 1) throw keyUsed(license)
  const until = updatesUntil({ ...license, ...atFirstUse(license, now) })
  const releasedAt = until === null ? null : await findReleasedAt(db, app.id, version)
  const facts = factsOf(call, {
    app,
    key: toKeyFacts(license),
    caller,
    updates: { releasedAt, until },
    device: toDeviceFacts(machine, undefined, { used: 0, limit: deviceLimit(license) }),
    now,
  })
  refuseBy(facts)
  return facts
}
