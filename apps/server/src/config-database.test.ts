import { expect, test } from 'vitest'
import { readDatabaseAddress } from './config-database.ts'

test.each([
  'postgres://u:p%40ss@db/keyward',
  'postgresql://u@db.example.com:6432/keyward?application_name=licenses&options=-c%20geqo%3Doff',
  'postgres:///keyward?host=/run/postgresql',
])('an address without hosts and TLS stays as it is: %s', (url) => {
  expect(readDatabaseAddress(url)).toEqual({ urls: [url], tls: undefined, needsWrites: false })
})

test('several hosts are tried for one that accepts writes, unless the address says otherwise', () => {
  const [one, two] = ['postgres://u:p%2C@a:5432/k', 'postgres://u:p%2C@[::1]:5433/k']
  const hosts = 'postgres://u:p%2C@a:5432,[::1]:5433/k'
  expect(readDatabaseAddress(hosts)).toMatchObject({ urls: [one, two], needsWrites: true })
  const any = readDatabaseAddress(`${hosts}?target_session_attrs=any`)
  expect(any).toMatchObject({ urls: [one, two], needsWrites: false })
  const single = readDatabaseAddress('postgres://u@a/k?target_session_attrs=read-write&options=x')
  expect(single).toMatchObject({ urls: ['postgres://u@a/k?options=x'], needsWrites: true })
})

test('the modes of TLS are read, and not left for the driver', () => {
  const read = (query: string) => readDatabaseAddress(`postgres://u@a/k?${query}`)
  for (const name of ['require', 'prefer', 'verify-full'])
    expect(read(`sslmode=${name}`)).toMatchObject({
      urls: ['postgres://u@a/k'],
      tls: { mode: 'verify-full' },
    })
  expect(read('sslmode=no-verify')).toMatchObject({ tls: { mode: 'no-verify' } })
  const tls = { mode: 'verify-ca', rootCertificate: '/ca.pem' }
  expect(read('sslmode=verify-ca&sslrootcert=/ca.pem')).toMatchObject({ urls: ['postgres://u@a/k'], tls })
  expect(read('sslrootcert=/ca.pem')).toMatchObject({ tls: { mode: 'verify-full' } })
})

test.each([
  ['postgres://u:hush@a,,b/k', /empty host/],
  [`postgres://u:hush@${'a,'.repeat(8)}a/k`, /more than 8 hosts/],
  ['postgres://u:hush@a:x,b/k', /must be an address/],
  ['postgres://u:hush#x@a/k', /must be an address/],
  ['postgres://u:hush@a,b/k?target_session_attrs=standby', /neither any nor read-write/],
  ['postgres://u:hush@a/k?sslmode=allow', /none of disable, no-verify, prefer, require/],
  ['postgres://u:hush@a/k?sslmode=verify-ca', /without sslrootcert/],
])('a mistake is one line without the password: %s', (url, line) => {
  const mistake = readDatabaseAddress(url)
  expect(mistake).toMatch(line)
  expect(mistake).not.toMatch(/hush|\n/)
})
