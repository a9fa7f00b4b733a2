import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../test/eventually.ts'
import { LogWriter, openLog } from './log-writer.ts'

const megabyte = 1_048_576

/** A disk that is full until emptied, and then accepts 7,000 bytes at a time. */
function makeDisk() {
  const disk = { full: true, text: '' }
  const log = new LogWriter({
    retryMs: 1,
    send: (bytes, done) => {
      setImmediate(() => {
        if (disk.full) return done(new Error('ENOSPC'), 0)
        const taken = bytes.subarray(0, 7_000)
        disk.text += taken
        done(null, taken.length)
      })
    },
  })
  return { disk, log }
}

test('keeps a megabyte of lines while the disk is full, then writes them and reports the dropped number', async () => {
  const { disk, log } = makeDisk()
  const line = `${'x'.repeat(1023)}\n`
  for (let count = 0; count < 3000; count += 1) log.write(line)
  expect(log.waitingBytes).toBe(megabyte)
  disk.full = false
  await eventually(() => expect(disk.text).toContain('dropped'))
  log.write('later\n')
  await log.flush(5000)
  const lines = disk.text.split('\n')
  expect(lines.filter((one) => one === 'x'.repeat(1023))).toHaveLength(1024)
  const report = JSON.parse(lines[1024] as string)
  expect(report).toMatchObject({ level: 40, dropped: 3000 - 1024 })
  expect(lines.slice(1025)).toEqual(['later', ''])
})

test('stops a flush after its time limit', async () => {
  const { log } = makeDisk()
  log.write('a line\n')
  await log.flush(20)
  expect(log.waitingBytes).toBe(7)
})

test('writes the remaining lines when the process exits', () => {
  const rest: string[] = []
  const log = new LogWriter({ send: () => {}, writeRest: (bytes) => void rest.push(String(bytes)) })
  log.write('in flight\n')
  log.write('second\n')
  log.write('third\n')
  log.flushAtExit()
  expect(rest).toEqual(['second\nthird\n'])
})

test('neither blocks on an unread pipe nor grows with it, and continues when it is read', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keyward-pipe-'))
  const path = join(directory, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const log = openLog(openSync(path, constants.O_WRONLY))
  try {
    const line = `${'y'.repeat(999)}\n`
    for (let count = 0; count < 5000; count += 1) log.write(line)
    expect(log.waitingBytes).toBeLessThanOrEqual(megabyte)
    let received = ''
    const buffer = Buffer.alloc(65_536)
    await eventually(
      () => {
        received += tryRead(reader, buffer)
        expect(received).toMatch(/"dropped":\d+.*\n/)
      },
      { timeout: 60_000, interval: 1 },
    )
    const dropped = Number(/"dropped":(\d+)/.exec(received)?.[1])
    expect(received.split(line).length - 1 + dropped).toBe(5000)
  } finally {
    closeSync(reader)
    rmSync(directory, { recursive: true, force: true })
  }
})

function tryRead(fd: number, buffer: Buffer): string {
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer))
  } catch {
    return ''
  }
}
