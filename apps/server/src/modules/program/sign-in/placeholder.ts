import { isPlaceholder, type Machine } from '../../devices/devices.rules.ts'
import type { CallerFacts } from '../verdict/verdict-facts.ts'

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
