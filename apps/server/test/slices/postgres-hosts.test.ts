import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createClient } from '../../src/db/postgres/connect.ts'
import { signUp } from '../actors.ts'
import { freePort } from '../free-port.ts'
import { startServer } from '../harness.ts'
import { startPrivateCluster, startStandby, unprivilegedAccount } from '../postgres-cluster.ts'
import { selfSigned } from '../self-signed.ts'
import { openGate } from '../tcp-gate.ts'

const hostOf = (url: string) => new URL(url).host

test('of several hosts the one that accepts writes is used, also after it hung and a standby was promoted', async () => {
  const primary = await startPrivateCluster({ synchronous_commit: 'on' })
  const standby = await startStandby(primary, 'second')
  const gate = await openGate({ host: '127.0.0.1', port: Number(new URL(primary.url).port) })
  const hosts = [`127.0.0.1:${await freePort()}`, hostOf(standby.url), `127.0.0.1:${gate.port}`]
  const on = await startServer({ DATABASE_URL: `postgres://keyward@${hosts.join()}/postgres` })
  const after = new pg.Client({ connectionString: standby.url })
  try {
    const owner = await signUp(on)
    const write = (name: string) => owner.call('POST', '/apps', { name })
    expect((await write('Atlas')).status).toBe(201)
    await after.connect()
    const replayed = () => after.query("select name from apps where name = 'Atlas'")
    await expect.poll(async () => (await replayed()).rowCount).toBe(1)

    gate.freeze()
    await standby.promote()
    await expect.poll(async () => (await write('Borealis')).status, { timeout: 60_000 }).toBe(201)
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
    expect((await after.query("select name from apps where name = 'Borealis'")).rowCount).toBe(1)
    const listening = "select from pg_stat_activity where query = 'listen keyward_changes'"
    await expect.poll(async () => (await after.query(listening)).rowCount, { timeout: 90_000 }).toBe(1)
  } finally {
    await after.end()
    gate.thaw()
    await on.close()
    await gate.close()
    await standby.stop()
    await primary.stop()
  }
})

test('each mode of TLS protects the connection as documented', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keyward-tls-'))
  const { key, cert } = selfSigned({ host: 'localhost' })
  const file = (name: string, text: string) => {
    const path = join(directory, name)
    writeFileSync(path, text, { mode: 0o600 })
    if (process.getuid?.() === 0) chownSync(path, unprivilegedAccount().uid ?? 0, 0)
    return path
  }
  chmodSync(directory, 0o755)
  const trusted = file('server.pem', cert)
  const other = file('other.pem', selfSigned({ host: 'localhost' }).cert)
  const settings = { ssl: 'on', ssl_cert_file: trusted, ssl_key_file: file('server.key', key) }
  const [tls, plain] = [await startPrivateCluster(settings), await startPrivateCluster()]
  const isEncrypted = async (url: string, query: string, host = '127.0.0.1') => {
    const address = `${url.replace('127.0.0.1', host)}?${query}`
    const client = createClient(address)
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      return rows[0]?.ssl
    } catch (error) {
      return (error as Error).message
    } finally {
      await client.end().catch(() => {})
    }
  }
  const untrusted = expect.stringMatching(/self-signed certificate/)
  const otherName = expect.stringMatching(/does not match certificate/)
  const noTls = expect.stringMatching(/does not support SSL/)
  try {
    expect(await isEncrypted(tls.url, '')).toBe(false)
    expect(await isEncrypted(tls.url, 'sslmode=disable')).toBe(false)
    expect(await isEncrypted(tls.url, 'sslmode=no-verify')).toBe(true)
    expect(await isEncrypted(tls.url, 'sslmode=require')).toEqual(untrusted)
    expect(await isEncrypted(tls.url, `sslmode=verify-ca&sslrootcert=${trusted}`)).toBe(true)
    expect(await isEncrypted(tls.url, `sslmode=verify-ca&sslrootcert=${other}`)).toEqual(untrusted)
    expect(await isEncrypted(tls.url, 'sslmode=verify-full', 'localhost')).toEqual(untrusted)
    const full = `sslmode=verify-full&sslrootcert=${trusted}`
    expect(await isEncrypted(tls.url, full, 'localhost')).toBe(true)
    expect(await isEncrypted(tls.url, full)).toEqual(otherName)
    for (const mode of ['no-verify', 'require', `verify-ca&sslrootcert=${trusted}`, 'verify-full'])
      expect(await isEncrypted(plain.url, `sslmode=${mode}`)).toEqual(noTls)
    const hosts = `postgres://keyward@${hostOf(plain.url)},localhost:${new URL(tls.url).port}/postgres`
    expect(await isEncrypted(hosts, full)).toBe(true)
  } finally {
    await tls.stop()
    await plain.stop()
    rmSync(directory, { recursive: true, force: true })
  }
})
