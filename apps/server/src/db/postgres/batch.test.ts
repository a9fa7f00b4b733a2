import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Duplex } from 'node:stream'
import pg from 'pg'
import { expect, test } from 'vitest'
import { Batch } from './batch.ts'
import { pidOf } from './probe.ts'

const require = createRequire(import.meta.url)
const packageOf = (entry: string) => JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8'))

// Other versions may change the internals that batches, shared connections and probes use. Before a new one is entered
// here and in package.json, read its `client.js` and `connection.js`, and run the tests on PostgreSQL.
const version = '8.23.1'
const protocolVersion = '1.16.1'

test('the driver of PostgreSQL is the one whose internals were read, and package.json allows no other', () => {
  const driver = require.resolve('pg')
  const protocol = createRequire(driver).resolve('pg-protocol')
  expect(packageOf(driver).version).toBe(version)
  expect(packageOf(protocol).version).toBe(protocolVersion)
  expect(require('../../../package.json').dependencies.pg).toBe(version)
})

/** The server's end of a connection: records the messages that the driver sends. */
class Wire extends Duplex {
  #received = Buffer.alloc(0)
  #isStarted = false

  setNoDelay() {}
  ref() {}
  unref() {}
  connect() {
    process.nextTick(() => this.emit('connect'))
  }

  override _read() {}

  override _write(chunk: Buffer, _encoding: string, done: () => void) {
    if (this.#isStarted) this.#received = Buffer.concat([this.#received, chunk])
    else this.push(Buffer.concat([message('R', int32(0)), message('K', int32(77), int32(1)), ready]))
    this.#isStarted = true
    done()
  }

  override _final(done: () => void) {
    this.push(null)
    done()
  }

  /** The types of the messages since the last call. */
  takeTypes(): string {
    let types = ''
    for (let at = 0; at < this.#received.length; at += 1 + this.#received.readInt32BE(at + 1)) {
      types += String.fromCharCode(this.#received[at] ?? 0)
    }
    this.#received = Buffer.alloc(0)
    return types
  }
}

const int16 = (value: number) => Buffer.from([value >> 8, value])
const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value)])
const text = (value: string) => Buffer.from(`${value}\0`)
const message = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}
const ready = message('Z', Buffer.from('I'))
const [parsed, bound] = [message('1'), message('2')]
const ended = (command: string) => message('C', text(command))
const column = message('T', int16(1), text('n'), int32(0), int16(0), int32(23), int16(4), int32(-1), int16(0))
const row = message('D', int16(1), int32(2), Buffer.from('42'))

test('the driver sends a batch at once, and reports what PostgreSQL returns for each statement', async () => {
  const wire = new Wire()
  const client = new pg.Client({ stream: () => wire as never })
  await client.connect()
  expect(pidOf(client)).toBe(77)
  const { connection } = client as unknown as { connection: { stream: unknown } }
  expect(connection.stream).toBe(wire)

  const run = () =>
    client.query(
      new Batch([{ text: 'begin' }, { name: 'k1', text: 'select $1', values: [42], isRead: true }]),
    ).done
  const first = run()
  expect(wire.takeTypes()).toBe('PBEPBDES')
  wire.push(
    Buffer.concat([parsed, bound, ended('BEGIN'), parsed, bound, column, row, ended('SELECT 1'), ready]),
  )
  expect(await first).toEqual([
    { command: 'BEGIN', rows: [] },
    { command: 'SELECT 1', rows: [{ n: 42 }] },
  ])

  const refused = run()
  expect(wire.takeTypes(), 'the statement is prepared').toBe('PBEBDES')
  wire.push(
    Buffer.concat([message('E', text('SERROR'), text('C22012'), text('Mdivision by zero'), text('')), ready]),
  )
  await expect(refused).rejects.toMatchObject({ code: '22012', message: 'division by zero' })
  await client.end()
})
