import type { Kind } from './histories.ts'
import type { Done } from './history-run.ts'

/** How often everything happened in some histories. */
export class HistoryCounts {
  readonly #counts = new Map<string, number>()
  #cpuMs = 0
  #histories = 0

  add({ text, done }: { text: string; done: readonly Done[] }, cpuMs: number): void {
    this.#histories += 1
    this.#cpuMs += cpuMs
    for (const { kind, isDone } of done) this.#count(isDone ? `step ${kind}` : `refused ${kind}`)
    for (const [, code] of text.matchAll(/: [45]\d\d (\w+)/g)) this.#count(`refusal ${code}`)
    for (const [, code] of text.matchAll(/ program: (\w+)/g)) this.#count(`program ${code}`)
    for (const [, code] of text.matchAll(/ validate: (\w+)/g)) this.#count(`validate ${code}`)
    for (const [, what, state] of text.matchAll(/^ {2}(L|U|O\d+\.)\d+: (\w+)/gm))
      this.#count(`${what === 'U' ? 'end user' : 'license'} ${state}`)
    for (const [, state] of text.matchAll(/^ {2}O\d+: (.*)$/gm)) this.#count(`order ${state}`)
    for (const [, state] of text.matchAll(/, (inGrace|paused|added|seat|updateAvailable)\b/g))
      this.#count(`state ${state}`)
    for (const [at, now] of done.entries())
      for (const [name, fits] of Object.entries(combinations))
        if (now.isDone && fits(now, done.slice(0, at))) this.#count(`combination ${name}`)
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  of = (name: string): number => this.#counts.get(name) ?? 0

  /** What happened less often than it should, in all histories. */
  rare(kinds: readonly Kind[]): string[] {
    const steps = kinds.map((kind) => `step ${kind}`).filter((name) => this.of(name) < 300)
    const together = Object.keys(combinations).map((name) => `combination ${name}`)
    return [...steps, ...together.filter((name) => this.of(name) < 50)]
  }

  toString(): string {
    const lines = [...this.#counts].map(([name, count]) => `${String(count).padStart(8)} ${name}`)
    const cost = (this.#cpuMs / this.#histories).toFixed(1)
    return [
      ...lines.sort((a, b) => (a.slice(9) < b.slice(9) ? -1 : 1)),
      `${cost} ms of CPU per history`,
    ].join('\n')
  }
}

const adds = ({ kind }: Done) => kind === 'upgrade' || kind === 'attach'
const isAfter = (kinds: readonly Kind[], now: Done, earlier: readonly Done[]) =>
  earlier.some(({ kind, isDone, users }) => isDone && kinds.includes(kind) && users?.[0] === now.users?.[0])
const undoes = (now: Done, earlier: readonly Done[], kinds: readonly Kind[]) =>
  now.kind === 'undo' && kinds.includes(earlier[(now.of ?? 0) - 1]?.kind as Kind)
const endsLater = (now: Done) =>
  now.license !== undefined && (now.license.expiresAt !== null || now.license.term === 'first_use')
const isOfAdded = (now: Done, earlier: readonly Done[]) =>
  earlier.some((one) => one.isDone && adds(one) && one.licenses?.[0]?.startsWith(`${now.order}.`))
const losses = ['refunded', 'refundedMiddle', 'refundedPart', 'disputed', 'failed'] as const
const isOfOrder = (now: Done, kinds: readonly Kind[]) => (one: Done) =>
  one.order === now.order && kinds.includes(one.kind)

/** What belongs together and must happen, and the last step of it. */
const combinations: Record<string, (now: Done, earlier: readonly Done[]) => boolean> = {
  'key with an end added to an end user without': (now) =>
    adds(now) && now.user?.expiresAt === null && endsLater(now),
  'key without an end added to an end user with one': (now) =>
    adds(now) && now.user?.expiresAt !== null && !endsLater(now),
  'key added in the grace days': (now) => adds(now) && now.user?.inGrace === true,
  'key added after the end': (now) => adds(now) && now.user?.status === 'expired',
  'key added after a pause': (now, earlier) => adds(now) && isAfter(['pause'], now, earlier),
  'key added after an extension': (now, earlier) => adds(now) && isAfter(['extendUser'], now, earlier),
  'pause after an added key': (now, earlier) =>
    now.kind === 'pause' && isAfter(['upgrade', 'attach'], now, earlier),
  'end set during a pause': (now) => now.kind === 'setUserEnd' && now.user?.paused === true,
  'ban of an added key': (now) => now.kind === 'banLicense' && now.license?.added === true,
  'ban of an added key lifted': (now) =>
    now.kind === 'unbanLicense' && now.license?.added === true && now.license.banned,
  'added key deleted': (now) => now.kind === 'deleteLicense' && now.license?.added === true,
  'end of an added key set': (now) => now.kind === 'setEnd' && now.license?.added === true,
  'added key extended': (now) => now.kind === 'extendLicense' && now.license?.added === true,
  'type of a started license changed': (now) => now.kind === 'changeType' && now.license?.startedAt != null,
  'type of an added key changed': (now) => now.kind === 'changeType' && now.license?.added === true,
  'first license deleted after an added key': (now, earlier) =>
    now.kind === 'deleteLicense' &&
    now.license?.usedBy != null &&
    !now.license.added &&
    earlier.some((one) => one.isDone && adds(one) && one.user?._id === now.license?.usedBy?._id),
  'end user deleted after an added key': (now, earlier) =>
    now.kind === 'deleteUser' && isAfter(['upgrade', 'attach'], now, earlier),
  'deleted key imported again': (now, earlier) =>
    now.kind === 'import' &&
    earlier.some(
      (one) => one.kind === 'deleteLicense' && one.isDone && one.licenses?.[0] === now.licenses?.[0],
    ),
  'undo of a bulk extension': (now, earlier) => undoes(now, earlier, ['bulkExtend']),
  'undo of a bulk end': (now, earlier) => undoes(now, earlier, ['bulkEnd']),
  'undo of a bulk ban': (now, earlier) => undoes(now, earlier, ['bulkBan', 'bulkUnban']),
  'undo of one end': (now, earlier) => undoes(now, earlier, ['setEnd', 'extendLicense']),
  'bulk undo after an added key': (now, earlier) =>
    undoes(now, earlier, ['bulkExtend', 'bulkEnd']) && earlier.some((one) => one.isDone && adds(one)),
  'refund of a renewal between two standing ones': (now, earlier) =>
    now.kind === 'refundedMiddle' && !earlier.some(isOfOrder(now, losses)),
  'refund of a used license': (now, earlier) =>
    now.kind === 'refunded' &&
    earlier.some((one) => one.isDone && one.licenses?.[0]?.startsWith(`${now.order}.`) && one.users),
  'refund of an added key': (now, earlier) => now.kind === 'refunded' && isOfAdded(now, earlier),
  'renewal of an added key': (now, earlier) => now.kind === 'renewed' && isOfAdded(now, earlier),
  'renewal after a loss': (now, earlier) => now.kind === 'renewed' && earlier.some(isOfOrder(now, losses)),
  'dispute won': (now, earlier) => now.kind === 'won' && earlier.some(isOfOrder(now, ['disputed'])),
}
