import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { greeting } from './greeting.ts'

const interfaces = {
  eth0: [
    { address: '192.168.0.7', family: 'IPv4', internal: false },
    { address: '2001:db8::7', family: 'IPv6', internal: false },
    { address: 'fe80::7', family: 'IPv6', internal: false },
  ],
  lo: [
    { address: '127.0.0.1', family: 'IPv4', internal: true },
    { address: '::1', family: 'IPv6', internal: true },
  ],
} as const

const linesOf = (environment: Record<string, string>): string[] =>
  greeting(readConfig(environment), 3000, environment, { interfaces: interfaces as never }).split('\n')

const addressesIn = (lines: string[]): string[] => lines.flatMap((line) => line.match(/https?:\S+/g) ?? [])

test.each([
  ['0.0.0.0', ['http://127.0.0.1:3000', 'http://192.168.0.7:3000']],
  [
    '::',
    ['http://127.0.0.1:3000', 'http://[::1]:3000', 'http://192.168.0.7:3000', 'http://[2001:db8::7]:3000'],
  ],
  ['127.0.0.1', ['http://127.0.0.1:3000']],
  ['192.168.0.7', ['http://192.168.0.7:3000']],
])('a server on %s prints addresses that can be opened', (host, addresses) => {
  const lines = linesOf({ HOST: host })
  expect(lines[0]).toBe(`Keyward is ready: ${addresses[0]}`)
  expect(addressesIn(lines)).toEqual(addresses)
})

test('prints the public address alone if there is one', () => {
  expect(addressesIn(linesOf({ HOST: '0.0.0.0', PUBLIC_URL: 'https://keys.example.com' }))).toEqual([
    'https://keys.example.com',
  ])
})

test.each([
  [{ HOST: '0.0.0.0' }, true],
  [{ HOST: '192.168.0.7' }, true],
  [{ PUBLIC_URL: 'http://keys.example.com' }, true],
  [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://keys.example.com' }, false],
  [{ HOST: 'localhost' }, false],
  [{}, false],
])('with %j warns of plain HTTP: %j', (environment: Record<string, string>, warns) => {
  expect(linesOf(environment).some((line) => line.includes('plain HTTP'))).toBe(warns)
})

test('says that WORKERS has no effect', () => {
  expect(linesOf({ WORKERS: '4' }).filter((line) => line.includes('WORKERS has no effect'))).toHaveLength(1)
  expect(linesOf({}).some((line) => line.includes('WORKERS'))).toBe(false)
})

test('says where scheduled backups go, and nothing without any', () => {
  const of = (environment: Record<string, string>) =>
    linesOf(environment).filter((line) => line.startsWith('  backups'))
  expect(of({})).toEqual([])
  expect(of({ BACKUP_EVERY: '6', BACKUP_DIR: '/srv/b' })).toEqual([
    '  backups   every 6 h into /srv/b, which keeps 7',
  ])
})

const reachable = { PUBLIC_URL: 'https://keys.example.com' }

test.each([
  ['warns about open registration at a public address with premium for everyone', reachable, true],
  ['does not warn when registration is closed', { ...reachable, REGISTRATION: 'closed' }, false],
  ['does not warn when the default plan is free', { ...reachable, DEFAULT_PLAN: 'free' }, false],
  ['does not warn when only this machine can reach the server', { DEFAULT_PLAN: 'premium' }, false],
])('the start %s', (_name, environment, warns) => {
  const lines = linesOf(environment)
  const warning = 'anyone can register and gets premium: set REGISTRATION=closed or DEFAULT_PLAN=free'
  expect(lines.includes(`  warning   ${warning}`)).toBe(warns)
  const isFree = 'DEFAULT_PLAN' in environment && environment.DEFAULT_PLAN === 'free'
  expect(lines.includes('  plan      premium for every account')).toBe(!isFree)
})
