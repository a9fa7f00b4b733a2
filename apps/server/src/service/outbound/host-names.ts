import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLocalName } from './address-rules.ts'

/** Finds the addresses of a host name; for tests another one is used. */
export interface HostNames {
  resolve4: (host: string) => Promise<string[]>
  resolve6: (host: string) => Promise<string[]>
  cancel: () => void
}

/** More addresses of one family are not tried. */
const addressesMax = 4

/**
 * Asks the DNS servers themselves: the system's own look-up occupies one of four threads that the whole process shares,
 * and somebody's slow DNS server could hold all of them. It also searches the server's own domain, which this does not.
 */
export const systemHostNames = (timeoutMs: number): HostNames =>
  new Resolver({ timeout: timeoutMs, tries: 2 })

/** All addresses of a host; none if it has none or its DNS servers do not answer. */
export async function findAddresses(names: HostNames, host: string, signal: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  if (isLocalName(host)) return ['127.0.0.1', '::1']
  const cancel = () => names.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const found = await Promise.allSettled([names.resolve4(host), names.resolve6(host)])
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value.slice(0, addressesMax) : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
