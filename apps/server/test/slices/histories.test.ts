import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { startServer } from '../harness.ts'
import { kinds } from '../histories.ts'
import { HistoryCounts } from '../history-counts.ts'
import { runHistory } from '../history-run.ts'
import { recount } from '../recount.ts'
import { rounds } from '../rounds.ts'

// Compares what customers may use in many histories with what was recorded. HISTORIES=120-180, or 120, chooses histories,
// HISTORIES_OUT=folder writes their answers, HISTORIES_COUNTS=1 shows what happens in them, HISTORIES_RECORD=1 records them.

const { HISTORIES, HISTORIES_OUT, HISTORIES_RECORD, HISTORIES_COUNTS } = process.env
// PostgreSQL takes several times as long.
const [some, all] = process.env.TEST_DATABASE === 'postgres' ? [5, 2000] : [30, 10_000]
const [first = 1, last = HISTORIES ? first : rounds(some, all)] = HISTORIES?.split('-').map(Number) ?? []

const file = new URL('../histories.digests.txt', import.meta.url)
const digests = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 10)

const perServer = 100
const ranges = Array.from({ length: Math.ceil((last - first + 1) / perServer) }, (_, at) => {
  const from = first + at * perServer
  return [from, Math.min(last, from + perServer - 1)] as const
})
const counts = new HistoryCounts()
if (HISTORIES_OUT) mkdirSync(HISTORIES_OUT, { recursive: true })

test.each(ranges)('histories %i to %i are answered as recorded', async (from, to) => {
  const on = await startServer({ DEFAULT_PLAN: 'premium' }, { checkAnswers: false })
  const different: string[] = []
  for (let number = from; number <= to; number += 1) {
    const begin = process.cpuUsage()
    const history = await runHistory(on, number)
    const { user, system } = process.cpuUsage(begin)
    counts.add(history, (user + system) / 1000)
    if (HISTORIES_OUT) writeFileSync(`${HISTORIES_OUT}/${number}.txt`, history.text)
    if (HISTORIES_RECORD) digests[number - 1] = digestOf(history.text)
    else if (digests[number - 1] !== digestOf(history.text)) different.push(history.text)
  }
  const { kept, counted } = await recount(on)
  await on.close()
  expect(kept).toEqual(counted)
  expect(different.length, different[0] && explain(different)).toBe(0)
})

const explain = (different: readonly string[]) => `
${different.map((text) => text.split(' from ', 1)[0]).join(', ')}: not answered as recorded. The first one:

${different[0]}
To see what was recorded, check out the commit that changed histories.digests.txt last, run this file there and here with
HISTORIES=<number> and HISTORIES_OUT=<folder>, and compare both folders with diff -r.`

test.runIf(last - first + 1 === 10_000)(
  'histories contain each kind of step and what belongs together',
  () => {
    expect(counts.rare(kinds)).toEqual([])
  },
)

afterAll(() => {
  if (HISTORIES_COUNTS) console.log(String(counts))
  if (HISTORIES_RECORD) writeFileSync(file, `${digests.join('\n')}\n`)
})
