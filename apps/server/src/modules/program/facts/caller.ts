import { parseNetwork } from '../../../core/networks/networks.ts'
import type { Soon } from '../../../core/queues/after.ts'
import type { Ctx } from '../../../service/ctx.ts'
import type { BlockTables } from '../../blocklist/block-tables.ts'
import { isPlaceholder, type Machine, type Parts } from '../../devices/devices.rules.ts'
import type { Match } from '../../devices/devices.service.ts'
import type { CallerFacts, DeviceFacts } from '../verdict/verdict.ts'
import type { AppFacts } from './facts.ts'

export interface Caller {
  hwidHash: string | null
  /** What is known of the machine's parts. */
  readParts?: () => Parts | undefined
  /** The address as rate limits count it. */
  address: string
}

/** The machine that a program sent, as a caller. */
export const callerOf = (machine: Machine | undefined, address: string): Caller => ({
  hwidHash: machine?.hash ?? null,
  readParts: () => machine?.parts,
  address,
})

type Deps = { ctx: Pick<Ctx, 'vpn'>; blocks: BlockTables }

/** Compares a machine that is not the caller with the app's block list. */
export async function judgeDevice(
  { blocks }: Pick<Deps, 'blocks'>,
  app: AppFacts,
  hwidHash: string,
): Promise<CallerFacts> {
  const table = app.blockVersion === 0 ? undefined : await blocks.get(app)
  return { blocked: table?.findDevice(hwidHash) ?? null, isRefusedVpn: false, hwidHash }
}

/** Compares a caller with the app's block list and the addresses of VPN providers; returns no promise if there are none. */
export function judgeCaller(deps: Deps, app: AppFacts, caller: Caller): Soon<CallerFacts> {
  if (app.blockVersion !== 0 || app.blockVpn) return compareCaller(deps, app, caller)
  return { blocked: null, isRefusedVpn: false, hwidHash: caller.hwidHash }
}

async function compareCaller(
  { ctx, blocks }: Deps,
  app: AppFacts,
  { hwidHash, readParts, address }: Caller,
): Promise<CallerFacts> {
  const table = await blocks.get(app)
  const network = parseNetwork(address)
  const device = hwidHash === null ? undefined : table?.findDevice(hwidHash, readParts)
  return {
    blocked: device ?? table?.findAddress(network) ?? null,
    isRefusedVpn: app.blockVpn && ctx.vpn.has(network) && table?.allowsVpn(network) !== true,
    hwidHash,
  }
}

/** The machine of a call, compared with the devices of the end user if there is one. */
export const toDeviceFacts = (
  machine: Machine | undefined,
  match?: Match | { kind: 'bound' },
): Pick<DeviceFacts, 'isSent' | 'isBound' | 'hasDriftedTooOften'> => ({
  isSent: machine !== undefined,
  isBound: match !== undefined && ['bound', 'known', 'drifted'].includes(match.kind),
  hasDriftedTooOften: match?.kind === 'drifted too often',
})

interface Device {
  machine: Machine | undefined
  caller: CallerFacts
}

/** The device where something is bound or started: a hardware id that many machines send counts as none there. */
export const toNewDevice = <D extends Device>(device: D): D =>
  device.machine && isPlaceholder(device.machine) ? withoutMachine(device) : device

export const withoutMachine = <D extends Device>(device: D): D => ({
  ...device,
  machine: undefined,
  caller: { ...device.caller, hwidHash: null },
})
