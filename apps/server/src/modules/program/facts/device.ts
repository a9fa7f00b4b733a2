import type { DeviceUse } from '@keyward/contract'
import type { Machine } from '../../devices/devices.rules.ts'
import type { Match } from '../../devices/devices.service.ts'
import type { DeviceFacts } from '../verdict/verdict-facts.ts'

/** The machine of a call, compared with the devices of the end user if there is one. */
export const toDeviceFacts = (
  machine: Machine | undefined,
  match: Match | { kind: 'bound' } | undefined,
  use: DeviceUse,
): DeviceFacts => ({
  ...use,
  isSent: machine !== undefined,
  isBound: match !== undefined && ['bound', 'known', 'drifted'].includes(match.kind),
  hasDriftedTooOften: match?.kind === 'drifted too often',
})
