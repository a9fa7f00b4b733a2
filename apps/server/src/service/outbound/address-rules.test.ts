import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { everyRow } from '../../../test/every-row.ts'
import { AddressRules } from './address-rules.ts'
import { type OutboundFailure, outboundFailures } from './failures.ts'

const settings = {
  development: false,
  webhookNetworks: [] as string[],
  publicUrl: 'https://keys.example.com/keyward',
  port: 3000,
}
const rules = new AddressRules(settings)
const withNetworks = (...webhookNetworks: string[]) => new AddressRules({ ...settings, webhookNetworks })
const development = new AddressRules({ ...settings, publicUrl: 'http://localhost:3000', development: true })

const hostile: [url: string, failure: OutboundFailure][] = [
  ['https://127.0.0.1/', 'host'],
  ['https://127.1/', 'host'],
  ['https://127.0.0.1./', 'host'],
  ['https://2130706433/', 'host'],
  ['https://017700000001/', 'host'],
  ['https://0177.0.0.1/', 'host'],
  ['https://0x7f000001/', 'host'],
  ['https://0x7f.1/', 'host'],
  ['https://0/', 'host'],
  ['https://0.0.0.0:8443/', 'host'],
  ['https://１２７.０.０.１/', 'host'],
  ['https://①②⑦.⓪.⓪.①/', 'host'],
  ['https://127.0.0.1%2f@example.com/', 'password'],
  ['https://10.0.0.1/', 'host'],
  ['https://10.255.255.255:65535/', 'host'],
  ['https://100.64.0.1/', 'host'],
  ['https://100.100.100.200/latest/meta-data', 'host'],
  ['https://168.63.129.16/metadata', 'host'],
  ['https://169.254.169.254/latest/meta-data/', 'host'],
  ['https://2852039166/latest/meta-data/', 'host'],
  ['https://172.16.0.1/', 'host'],
  ['https://172.31.255.255/', 'host'],
  ['https://192.0.0.192/opc/v2', 'host'],
  ['https://192.0.2.1/', 'host'],
  ['https://192.88.99.1/', 'host'],
  ['https://192.168.0.1/', 'host'],
  ['https://198.18.0.1/', 'host'],
  ['https://198.19.255.255/', 'host'],
  ['https://198.51.100.7/', 'host'],
  ['https://203.0.113.7/', 'host'],
  ['https://224.0.0.1/', 'host'],
  ['https://239.255.255.255/', 'host'],
  ['https://240.0.0.1/', 'host'],
  ['https://255.255.255.255/', 'host'],
  ['https://[::]/', 'host'],
  ['https://[::1]/', 'host'],
  ['https://[::7f00:1]/', 'host'],
  ['https://[::ffff:127.0.0.1]/', 'host'],
  ['https://[::ffff:8.8.8.8]/', 'host'],
  ['https://[::ffff:0:8.8.8.8]/', 'host'],
  ['https://[64:ff9b::169.254.169.254]/', 'host'],
  ['https://[64:ff9b::8.8.8.8]/', 'host'],
  ['https://[64:ff9b:1::1]/', 'host'],
  ['https://[100::1]/', 'host'],
  ['https://[2001::1]/', 'host'],
  ['https://[2001:2::1]/', 'host'],
  ['https://[2001:20::1]/', 'host'],
  ['https://[2001:db8::1]/', 'host'],
  ['https://[2002:7f00:1::]/', 'host'],
  ['https://[3fff::1]/', 'host'],
  ['https://[5f00::1]/', 'host'],
  ['https://[fc00::1]/', 'host'],
  ['https://[fd00:ec2::254]/', 'host'],
  ['https://[fe80::1]/', 'host'],
  ['https://[fec0::1]/', 'host'],
  ['https://[ff02::1]/', 'host'],
  ['https://[fe80::1%25eth0]/', 'invalid'],
  ['https://keys.example.com/hook', 'host'],
  ['https://KEYS.EXAMPLE.COM.:8443/hook', 'host'],
  ['https://ｋｅｙｓ.example.com/', 'host'],
  ['https://user@example.com/', 'password'],
  ['https://:secret@example.com/', 'password'],
  ['https://@example.com/', 'password'],
  ['https://example.com@127.0.0.1/', 'password'],
  ['https://example.com:443@169.254.169.254/', 'password'],
  ['https://127.0.0.1#@example.com/', 'host'],
  ['https://127.0.0.1?@example.com/', 'host'],
  ['https://example.com\\@127.0.0.1/', 'invalid'],
  ['https:\\\\example.com/', 'invalid'],
  ['https://exa\tmple.com/', 'invalid'],
  ['https://example.com/\r\nhost: 127.0.0.1', 'invalid'],
  ['https://example.com/ HTTP/1.1', 'invalid'],
  ['https://example.com\u202e/', 'invalid'],
  ['https://exam\u00adple.com/', 'invalid'],
  ['https://example.com../', 'invalid'],
  ['https://.example.com/', 'invalid'],
  ['https://a_b!.example.com/', 'invalid'],
  ['https://{example}.com/', 'invalid'],
  [`https://${'a'.repeat(64)}.com/`, 'invalid'],
  [`https://example.com/${'a'.repeat(2048)}`, 'invalid'],
  ['https://', 'invalid'],
  ['example.com/hook', 'invalid'],
  ['//example.com/hook', 'invalid'],
  ['http://example.com/', 'unencrypted'],
  ['http://127.0.0.1/', 'unencrypted'],
  ['ftp://example.com/', 'invalid'],
  ['file:///etc/passwd', 'invalid'],
  ['gopher://127.0.0.1:6379/_INFO', 'invalid'],
  ['data:text/plain,a', 'invalid'],
  ['javascript:alert(1)', 'invalid'],
  ['https://example.com:22/', 'port'],
  ['https://example.com:25/', 'port'],
  ['https://example.com:80/', 'port'],
  ['https://example.com:1023/', 'port'],
  ['https://example.com:0/', 'port'],
  ['https://example.com:65536/', 'invalid'],
]

test('refuses every hostile address', async () => {
  expect(hostile.length).toBeGreaterThan(40)
  await everyRow(hostile, (url, failure) => expect(rules.findFault(url)).toBe(failure))
})

test('accepts https at port 443 and from 1024 to 65535', async () => {
  await everyRow(
    [
      ['https://example.com'],
      ['https://example.com:443/hook?a=b'],
      ['https://example.com:1024/'],
      ['https://example.com:65535/'],
      ['https://example.com./'],
      ['https://bücher.example/'],
      ['https://xn--bcher-kva.example/'],
      ['https://other.keys.example.com/'],
      ['https://example.com#@127.0.0.1/'],
      ['https://8.8.8.8/'],
      ['https://[2606:4700::1111]/'],
    ],
    (url) => expect(rules.findFault(url)).toBeUndefined(),
  )
})

test('names that mean this machine have no public address', async () => {
  const isAllowed = (found: AddressRules, url: string, address: string) =>
    found.allows(address, found.read(url))
  expect(isAllowed(rules, 'https://localhost/', '127.0.0.1')).toBe(false)
  expect(isAllowed(rules, 'https://localhost./', '::1')).toBe(false)
  expect(isAllowed(development, 'http://localhost:4000/', '127.0.0.1')).toBe(true)
})

test('an address of one of the interfaces is this server, even if it is public or listed, at its own port', () => {
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  for (const { address } of own) {
    const host = address.includes(':') ? `[${address}]` : address
    if (address.startsWith('fe80')) continue
    expect(rules.findFault(`https://${host}/`)).toBe('host')
    const listed = withNetworks(address)
    expect(listed.findFault(`https://${host}/`)).toBeUndefined()
    expect(listed.findFault(`https://${host}:3000/`)).toBe('host')
  }
})

test('reaches listed networks, with http too, and nothing beside them', async () => {
  const listed = withNetworks('10.1.0.0/16', '192.168.7.7', 'fd12:3456::/64')
  await everyRow<[OutboundFailure | undefined]>(
    [
      ['https://10.1.2.3/', undefined],
      ['http://10.1.2.3/', undefined],
      ['http://10.1.2.3:8080/', undefined],
      ['http://10.1.2.3:25/', 'port'],
      ['https://10.1.2.3:80/', 'port'],
      ['http://10.2.0.1/', 'host'],
      ['http://192.168.7.7/', undefined],
      ['http://192.168.7.8/', 'host'],
      ['http://[fd12:3456::1]/', undefined],
      ['http://[fd12:3456:0:1::1]/', 'host'],
      ['http://8.8.8.8/', 'host'],
      ['http://169.254.169.254/', 'host'],
      ['http://127.0.0.1/', 'host'],
    ],
    (url, failure) => expect(listed.findFault(url)).toBe(failure),
  )
})

test('a development instance reaches loopback but not itself, and no private network', async () => {
  await everyRow<[OutboundFailure | undefined]>(
    [
      ['http://127.0.0.1:4000/', undefined],
      ['https://[::1]:4000/', undefined],
      ['http://localhost:4000/', undefined],
      ['http://127.0.0.1:3000/', 'host'],
      ['http://[::1]:3000/', 'host'],
      ['http://0.0.0.0:4000/', 'host'],
      ['http://10.0.0.1:4000/', 'host'],
      ['http://8.8.8.8:4000/', 'host'],
    ],
    (url, failure) => expect(development.findFault(url)).toBe(failure),
  )
})

test('a private address, an unknown network and a metadata service read the same', () => {
  const messages = ['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[::1]/'].map((url) => {
    const failure = rules.findFault(url)
    return failure && outboundFailures[failure]
  })
  expect(new Set(messages)).toEqual(new Set(['The host has no public address.']))
})
