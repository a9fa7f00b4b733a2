import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Engine } from './engines.ts'
import { type FairnessResult, signIns } from './fairness.ts'
import type { LimiterResult } from './limiter.ts'
import type { LoadResult } from './load.ts'
import type { StartResult } from './start.ts'
import type { WaitResult } from './waits.ts'

/** What was measured on one database. */
export interface Run {
  database: Engine
  licenses: number
  loads: LoadResult[]
  lists: WaitResult[]
  writes: WaitResult[]
}

export interface Results {
  runs: Run[]
  fairness: FairnessResult[]
  limiter: LimiterResult | undefined
  start: StartResult | undefined
}

const marks = {
  ofHashes: 0.85,
  checkOfSession: 1.5,
  pageP99Ms: 50,
  searchP99Ms: 100,
  waitMs: 50,
  fairP50Ms: 25,
  crowdP99Ratio: 4,
  flat: 1.3,
  startMs: 1500,
  startMegabytes: 150,
}
/** Answers per second, of those of the bare server. */
const ratioMarks: Record<string, number> = { 'client/validate': 0.28, 'client/session': 0.33 }

/** Lists the marks that were missed. */
export function missedMarks({ runs, fairness, start }: Results): string[] {
  const missed = runs.flatMap((run) => missedBy(run).map((text) => `${nameOf(run)}: ${text}`))
  for (const { name, p50, p99Ratio } of fairness) {
    if (!(p50 < marks.fairP50Ms))
      missed.push(`${name}: checks of other accounts took ${ms(p50)}, not under ${marks.fairP50Ms} ms`)
    if (name === signIns && !(p99Ratio <= marks.crowdP99Ratio))
      missed.push(`${name}: the p99 of checks grew by ${two(p99Ratio)}, not at most ${marks.crowdP99Ratio}`)
  }
  for (const { name, database, licenses, growth } of growths(runs)) {
    if (!(growth <= marks.flat))
      missed.push(
        `${name}, ${database}: costs ${two(growth)} times as much with ${whole(licenses)} licenses, not at most ${marks.flat}`,
      )
  }
  if (start && !(start.ms < marks.startMs)) missed.push(`a restart took ${ms(start.ms)}`)
  if (start && !(start.megabytes < marks.startMegabytes))
    missed.push(`a restarted server has ${whole(start.megabytes)} MB`)
  return missed
}

function missedBy({ loads, lists, writes, database }: Run): string[] {
  const missed: string[] = []
  for (const { name, ratio, ofHashes } of loads) {
    const least = database === 'sqlite' ? (ratioMarks[name] ?? 0) : 0
    if (!(ratio >= least)) missed.push(`${name}: ${two(ratio)} of bare, not ${least}`)
    if (ofHashes !== undefined && !(ofHashes >= marks.ofHashes))
      missed.push(`${name}: ${two(ofHashes)} of the hashes, not ${marks.ofHashes}`)
  }
  const check = loads.find(({ name }) => name === 'api/1.2 check')
  if (check?.ofOther !== undefined && !(1 / check.ofOther <= marks.checkOfSession))
    missed.push(
      `${check.name}: costs ${two(1 / check.ofOther)} times as much as a session, not at most ${marks.checkOfSession}`,
    )
  for (const { name, p99 } of lists) {
    const most = name.startsWith('search') ? marks.searchP99Ms : marks.pageP99Ms
    if (!(p99 < most)) missed.push(`${name}: p99 ${ms(p99)}, not under ${most} ms`)
  }
  for (const { name, wait } of [...lists, ...writes]) {
    if (!(wait < marks.waitMs))
      missed.push(`${name}: other requests waited ${ms(wait)}, not under ${marks.waitMs} ms`)
  }
  for (const { name, writers, disk } of writes) {
    if (writers && disk && !(writers.wait < marks.waitMs))
      missed.push(
        `${name}: writes of others waited ${ms(writers.wait)}, the disk alone ${ms(disk.wait)}, not under ${marks.waitMs} ms`,
      )
  }
  return missed
}

const nameOf = ({ database, licenses }: Run): string => `${whole(licenses)} licenses, ${database}`

/** The answering thread's cost of each call relative to the run with the fewest licenses on the same database. */
function growths(runs: Run[]) {
  return runs.flatMap(({ database, licenses, loads }) => {
    const same = runs.filter((run) => run.database === database)
    const smallest = same.toSorted((a, b) => a.licenses - b.licenses)[0]
    return loads.flatMap(({ name, mainCpu }) => {
      const base = smallest?.loads.find((load) => load.name === name)?.mainCpu
      return base === undefined || smallest?.licenses === licenses
        ? []
        : [{ name, database, licenses, growth: mainCpu / base }]
    })
  })
}

export function printReport(results: Results): void {
  console.log(`\n${toMarkdown(results)}`)
}

/** Writes the results between the markers in the README next to this file. */
export function writeReport(results: Results): void {
  const path = new URL('./README.md', import.meta.url)
  const [start, end] = ['<!-- results -->', '<!-- /results -->']
  const text = readFileSync(path, 'utf8')
  const [before, after] = [text.split(start)[0], text.split(end)[1]]
  writeFileSync(path, `${before}${start}\n${toMarkdown(results)}\n${end}${after}`)
}

function toMarkdown({ runs, fairness, limiter, start }: Results): string {
  const [cpu] = cpus()
  const machine = `${cpu?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`
  const facts = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${machine}`
  const parts = [facts]
  for (const run of runs) {
    parts.push(`### ${nameOf(run)}`)
    const { loads, lists, writes } = run
    if (loads.length > 0) parts.push(toTable(loadColumns, loads.map(toLoadRow)))
    const waits = (name: string, rows: WaitResult[]) =>
      parts.push(toTable([name, ...waitColumns], rows.map(toWaitRow)))
    if (lists.length > 0) waits('GET /licenses', lists)
    if (writes.length > 0) waits('writes', writes)
  }
  const grown = growths(runs)
  if (grown.length > 0) parts.push('### More licenses', toTable(growthColumns, grown.map(toGrowthRow)))
  if (fairness.length > 0) parts.push('### One busy account')
  if (fairness.length > 0) parts.push(toTable(fairnessColumns, fairness.map(toFairnessRow)))
  if (limiter) parts.push('### Rate limiter', toTable(limiterColumns, limiter.costs.map(toLimiterRow)))
  if (start) parts.push('### Restart', toTable(startColumns, [toStartRow(start)]))
  return parts.join('\n\n')
}

const growthColumns = ['call', 'database', 'licenses', 'main CPU of the smallest']
const toGrowthRow = ({ name, database, licenses, growth }: ReturnType<typeof growths>[number]): string[] => [
  name,
  database,
  whole(licenses),
  `× ${two(growth)}`,
]

const limiterColumns = ['addresses', 'main CPU of a request']
const toLimiterRow = ({ addresses, us: cost }: LimiterResult['costs'][number]): string[] => [
  whole(addresses),
  `${two(cost)} µs`,
]

const startColumns = ['until the first answer', 'longest', 'resident memory', 'largest']
const toStartRow = (start: StartResult): string[] => [
  ms(start.ms),
  ms(start.maxMs),
  `${whole(start.megabytes)} MB`,
  `${whole(start.maxMegabytes)} MB`,
]

const loadColumns = [
  'call',
  'per second',
  'p50',
  'p99',
  'bare per second',
  'bare p99',
  'of bare',
  'floor of bare',
  'CPU',
  'main CPU',
  'bare main CPU',
  'floor main CPU',
  'of hashes',
  'of other version',
  'its main CPU',
]
const toLoadRow = (load: LoadResult): string[] => [
  load.name,
  whole(load.perSecond),
  ms(load.p50),
  ms(load.p99),
  whole(load.barePerSecond),
  ms(load.bareP99),
  `${two(load.ratio)} (${load.spread.map(two).join('…')})`,
  load.floor ? two(load.floor.ofBare) : '',
  us(load.cpu),
  us(load.mainCpu),
  us(load.bareMainCpu),
  us(load.floor?.mainCpu ?? Number.NaN),
  load.ofHashes === undefined ? '' : `${two(load.ofHashes)} of ${whole(load.hashesPerSecond ?? 0)}`,
  load.ofOther === undefined
    ? ''
    : `${two(load.ofOther)} (${load.ofOtherSpread?.map(two).join('…')}) of ${whole(load.otherPerSecond ?? 0)}`,
  us(load.otherMainCpu ?? Number.NaN),
]

const waitColumns = [
  'p50',
  'p99',
  'max',
  'others waited',
  'bare waited',
  "others' writes p50",
  'p99',
  'p99.9',
  'writers waited',
  'disk p50',
  'p99',
  'p99.9',
  'disk waited',
]
const toWaitRow = (result: WaitResult): string[] => [
  result.name,
  ms(result.p50),
  ms(result.p99),
  ms(result.max),
  ms(result.wait),
  ms(result.bareWait),
  ...[result.writers, result.disk].flatMap((times) =>
    times ? [times.p50, times.p99, times.p999, times.wait].map(ms) : ['', '', '', ''],
  ),
]

const fairnessColumns = [
  'while one account sends',
  'connections',
  'answered',
  'rejected',
  'check p50',
  'p99',
  'max',
  'p50 of alone',
  'p99 of alone',
]
const toFairnessRow = (result: FairnessResult): string[] => [
  result.name,
  whole(result.connections),
  whole(result.answered),
  whole(result.refused),
  ms(result.p50),
  ms(result.p99),
  ms(result.max),
  `× ${result.medianRatio.toFixed(1)}`,
  `× ${result.p99Ratio.toFixed(1)}`,
]

/** Leaves out columns without a value. */
function toTable(allColumns: string[], allRows: string[][]): string {
  const used = allColumns.map((_, at) => allRows.some((row) => row[at] !== ''))
  const columns = allColumns.filter((_, at) => used[at])
  const rows = allRows.map((row) => row.filter((_, at) => used[at]))
  const widths = columns.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(columns), rule, ...rows.map(line)].join('\n')
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const two = (value: number): string => value.toFixed(2)
const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`
const us = (value: number): string => (Number.isNaN(value) ? '' : `${Math.round(value)} µs`)
