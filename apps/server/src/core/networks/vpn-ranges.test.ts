import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NetworkRanges, toRanges } from './network-ranges.ts'
import { parseNetwork } from './networks.ts'
import { type RangesFile, rangeLimits, readOnThread, VpnRanges } from './vpn-ranges.ts'

const address = (text: string) => {
  const network = parseNetwork(text)
  if (!network) throw new Error(`${text} is not an address`)
  return network
}

describe('ranges', () => {
  test('contain exactly the addresses of their networks, as a search through all of them finds', () => {
    let state = 7
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return state % below
    }
    const networks = Array.from({ length: 500 }, () =>
      address(`10.${random(4)}.${random(256)}.${random(256)}/${16 + random(17)}`),
    )
    networks.push(address('2001:db8::/32'), address('2001:db8:7::/48'))
    const ranges = new NetworkRanges(toRanges(networks))
    const contains = (ip: bigint) =>
      networks.some(
        ({ family, first, bits }) => family === 4 && ip >> BigInt(32 - bits) === first >> BigInt(32 - bits),
      )
    for (let at = 0; at < 2000; at += 1) {
      const ip = address(`10.${random(5)}.${random(256)}.${random(256)}`)
      expect(ranges.has(ip)).toBe(contains(ip.first))
    }
    expect(ranges.has(address('2001:db8:ffff::1'))).toBe(true)
    expect(ranges.has(address('2001:db9::1'))).toBe(false)
  })
})

describe('the file of ranges', () => {
  let folder: string
  let path: string
  let log: { reason?: string; ranges?: number; skippedLines?: number }[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyward-ranges-'))
    path = join(folder, 'ranges.txt')
    log = []
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const open = (limits = rangeLimits, read = readOnThread) => {
    const write = (detail: object) => log.push(detail)
    return new VpnRanges(path, { info: write, error: write }, limits, read)
  }
  const vpn = address('203.0.113.9')

  test('is loaded, with comments and a few wrong lines, and again when it changes', async () => {
    writeFileSync(path, '# a provider\r\n203.0.113.0/24 # Berlin\r\n\r\nrubbish\r\n2001:db8::/32')
    const ranges = open()
    await ranges.refresh()
    expect(ranges.has(vpn)).toBe(true)
    expect(ranges.has(address('2001:db8:1::1'))).toBe(true)
    expect(log).toEqual([{ ranges: 2, skippedLines: 1 }])
    await ranges.refresh()
    expect(log).toHaveLength(1)
    writeFileSync(path, '198.51.100.0/24\n')
    await ranges.refresh()
    expect(ranges.has(vpn)).toBe(false)
    expect(ranges.has(address('198.51.100.1'))).toBe(true)
  })

  test.each([
    ['rubbish', () => writeFileSync(path, 'rubbish\n'.repeat(5000)), /does not list/],
    ['one endless line', () => writeFileSync(path, '1'.repeat(200_000)), /does not list/],
    ['a gigabyte', () => truncateSync(path, 1_073_741_824), /bytes/],
    ['every address', () => writeFileSync(path, '0.0.0.0/0\n::/0\n'), /does not list/],
    [
      'too many networks',
      () => writeFileSync(path, '1.2.3.4\n2.3.4.5\n3.4.5.6\n4.5.6.7\n'),
      /more than 3 networks/,
    ],
    ['nothing', () => rmSync(path), /ENOENT/],
    [
      'a pipe that is never written',
      () => {
        rmSync(path)
        execFileSync('mkfifo', [path])
      },
      /not a file/,
    ],
  ])('that turns into %s is reported once, and the former ranges stay', async (_name, spoil, reason) => {
    writeFileSync(path, '203.0.113.0/24\n')
    const ranges = open({ ...rangeLimits, networks: 3 })
    await ranges.refresh()
    spoil()
    await ranges.refresh()
    await ranges.refresh()
    expect(log.slice(1)).toEqual([{ reason: expect.stringMatching(reason) }])
    expect(ranges.has(vpn)).toBe(true)
  })

  test('is loaded while the server goes on with other work', async () => {
    const lines = Array.from(
      { length: 300_000 },
      (_, at) => `10.${at >> 14}.${(at >> 6) & 255}.${(at & 63) * 4}/31`,
    )
    writeFileSync(path, lines.join('\n'))
    const ranges = open()
    const before = performance.eventLoopUtilization()
    await ranges.refresh()
    const { utilization } = performance.eventLoopUtilization(before)
    expect(log).toEqual([{ ranges: 300_000, skippedLines: 0 }])
    expect(ranges.has(address('10.18.79.124'))).toBe(true)
    expect(utilization).toBeLessThan(0.5)
  })

  test('that is missing at the start leaves the check without ranges until it is there', async () => {
    const ranges = open()
    await ranges.refresh()
    expect(ranges.isLoaded).toBe(false)
    writeFileSync(path, '203.0.113.0/24\n')
    await ranges.refresh()
    expect(ranges.isLoaded).toBe(true)
  })

  test('that could not be opened is reported once, and loaded as soon as it can be, unchanged', async () => {
    writeFileSync(path, '203.0.113.0/24\n')
    const failures: RangesFile[] = [{ failed: 'EACCES' }, { failed: 'EACCES' }]
    const ranges = open(rangeLimits, async (...args) => failures.shift() ?? readOnThread(...args))
    await ranges.refresh()
    await ranges.refresh()
    expect(log).toEqual([{ reason: 'EACCES' }])
    expect(ranges.isLoaded).toBe(false)
    await ranges.refresh()
    expect(ranges.has(vpn)).toBe(true)
  })

  test('that is removed before the thread opens it counts as not read', async () => {
    expect(await readOnThread(path, rangeLimits)).toEqual({ failed: 'ENOENT' })
  })
})
