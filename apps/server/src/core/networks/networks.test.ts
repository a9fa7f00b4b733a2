import { describe, expect, test } from 'vitest'
import { visitorOf } from './caller.ts'
import { formatNetwork, lastOf, NetworkSet, parseNetwork } from './networks.ts'

const shown = (text: string) => {
  const network = parseNetwork(text)
  return network && formatNetwork(network)
}

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7/32', '203.0.113.7'],
  [' 203.0.113.99/24 ', '203.0.113.0/24'],
  ['10.255.255.255/8', '10.0.0.0/8'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['2001:db8::/128', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6/48', '2001:db8:1:0::/48'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ['64:ff9b::203.0.113.7', '203.0.113.7'],
])('reads %s as %s', (text, expected) => {
  expect(shown(text)).toBe(expected)
})

test.each([
  '',
  'localhost',
  '0.0.0.0/0',
  '::/0',
  '1.0.0.0/7',
  '2000::/3',
  '::ffff:0:0/96',
  '::ffff:0.0.0.0/90',
  '203.0.113.7/33',
  '2001:db8::/129',
  '203.0.113.7/-1',
  '203.0.113.7/2 4',
  '203.0.113.7/24/24',
  '203.0.113',
  '0203.0.113.7',
  'fe80::1%eth0',
  '1.2.3.4\n5.6.7.8',
])('rejects %j', (text) => {
  expect(parseNetwork(text)).toBeUndefined()
})

test('reads an address as rate limits write it', () => {
  for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8:1:2:3:4:5:6', '64:ff9b::203.0.113.7'])
    expect(shown(visitorOf(address))).toBe(shown(address))
})

describe('a set of networks', () => {
  const networks = ['203.0.113.0/24', '203.0.113.7', '198.51.0.0/16', '2001:db8::/32', '2001:db8:5::/64']
  const set = new NetworkSet(networks.map((text) => [parseNetwork(text)!, text]))
  const find = (address: string) => set.find(parseNetwork(address))

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.8', '203.0.113.0/24'],
    ['::ffff:203.0.113.255', '203.0.113.0/24'],
    ['198.51.255.255', '198.51.0.0/16'],
    ['2001:db8:5:0:9::1', '2001:db8:5::/64'],
    ['2001:db8:5:1::1', '2001:db8::/32'],
  ])('finds the narrowest network of %s: %s', (address, expected) => {
    expect(find(address)).toBe(expected)
  })

  test.each(['203.0.112.255', '203.0.114.0', '198.52.0.0', '2001:db9::1', 'unknown'])(
    'lacks %s',
    (address) => {
      expect(find(address)).toBeUndefined()
    },
  )
})

test('ends with the last address', () => {
  expect(lastOf(parseNetwork('203.0.113.0/24')!) - parseNetwork('203.0.113.255')!.first).toBe(0n)
})
