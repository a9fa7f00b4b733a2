import type { Grant, License } from '@keyward/contract'
import { formatDate } from '../../lib/format/dates.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { amountOf } from '../../lib/format/words.ts'

/** What has an end that grants explain: a license or an end user. */
export type Granted = Partial<Pick<License, 'term' | 'duration'>> & {
  _id: string
  expiresAt: string | null
  grants?: Grant[]
}

export interface GrantWords {
  _id: string
  at: string
  /** The name of the source stands where `{source}` is. */
  text: string
  source: Grant['source']
  notes: string[]
  isWithdrawn: boolean
}

/** Says in words what was granted, newest first as it comes. */
export function grantWords({ grants = [], ...granted }: Granted): GrantWords[] {
  const ends = grants.filter(({ kind, withdrawnAt }) => (kind === 'term' || kind === 'end') && !withdrawnAt)
  return grants.map((grant, at) => {
    const { _id, from, source, withdrawnAt } = grant
    const isFirst = at === grants.length - 1
    const before = ends[ends.indexOf(grant) + 1]
    const text = textOf(grant, { granted, isFirst, isCurrent: grant === ends[0], before })
    const notes = [
      ...(isFirst ? [] : replaced(grant)),
      ...(grant.kind === 'time' && grant.until && !withdrawnAt
        ? [`What it allows holds until ${formatDate(grant.until)}.`]
        : []),
      ...(withdrawnAt ? [`Taken back on ${formatDate(withdrawnAt)}.`] : []),
    ]
    return { _id, at: from, text: named(text, source), source, notes, isWithdrawn: withdrawnAt !== null }
  })
}

/** What no longer counts with a new end. */
function replaced({ kind, withdrawnAt }: Grant): string[] {
  if (withdrawnAt) return []
  if (kind === 'end') return ['Replaces all time that was granted before.']
  return kind === 'term' ? ['Replaces all time that was granted before, but that of added keys.'] : []
}

interface Place {
  granted: Omit<Granted, 'grants'>
  /** Nothing was granted before. */
  isFirst: boolean
  /** No other end has replaced it. */
  isCurrent: boolean
  /** The end that it replaces. */
  before: Grant | undefined
}

function textOf(grant: Grant, place: Place): string {
  const { kind, amount, until, from, source } = grant
  if (kind === 'pause') return pauseText(from, until)
  if (kind === 'term') return `${termText(source, place.isFirst)}${validity(grant, place)}`
  if (kind === 'end') return endText(grant, place.before)
  if (kind === 'period' && source.kind === 'person')
    return `${until === null ? 'Set to never expire' : `Extended to ${formatDate(until)}`} by {source}, unless an order gives more`
  if (kind === 'period')
    return `Renewed by order {source} ${until === null ? 'without an end' : `until ${formatDate(until)}`}, beside all other time`
  if (source.kind === 'key') {
    if (amount === 0) return 'Key {source} was added'
    return `Key {source} added ${amount === null ? 'time without end' : timeText(amount)}`
  }
  const time = timeText(amount ?? 0)
  if (source.kind === 'person') return `Extended by ${time} by {source}`
  if (source.kind !== 'order') return `Kept ${time} from before`
  return amount === 0 ? 'Updates renewed by order {source}' : `Renewed by order {source} by ${time}`
}

function pauseText(from: string, until: string | null): string {
  const since = formatDate(from)
  if (until === null) return `Paused since ${since} by {source}`
  if (formatDate(until) !== since) return `Paused from ${since} to ${formatDate(until)} by {source}`
  return `Paused on ${since} for ${timeText(Date.parse(until) - Date.parse(from))} by {source}`
}

function termText({ kind, _id }: Grant['source'], isFirst: boolean): string {
  if (kind === 'person') return 'Type changed by {source}'
  if (kind === 'order') return isFirst ? 'Bought in order {source}' : 'Order {source} changed the type'
  if (kind !== 'key' || _id === null) return isFirst ? 'Created' : 'Type changed'
  return isFirst ? 'Key {source} was generated' : 'Key {source} became the license'
}

/** ', valid until …'; nothing for an end that was not known yet and no longer counts. */
function validity({ until }: Grant, { granted, isCurrent }: Place): string {
  if (until) return `, valid until ${formatDate(until)}`
  if (!isCurrent) return ''
  const text = noDateText(granted)
  return text === 'Never' ? ', never expires' : `, valid ${text}`
}

function endText({ until, source }: Grant, before: Grant | undefined): string {
  const { kind } = source
  if (kind === 'key') return 'Access ended because the license was deleted'
  if (until === null)
    return kind === 'order' ? 'Order {source} removed the end' : 'Set to never expire by {source}'
  const end = formatDate(until)
  if (kind === 'import') return `Moved here, valid until ${end}`
  if (kind !== 'order') return `End set to ${end} by {source}`
  // A failed payment or a refund sets an earlier end.
  const isLater = !before?.until || before.until < until
  return isLater ? `Renewed by order {source} until ${end}` : `End set to ${end} by order {source}`
}

/** Omits a source that has no name: the person has left, or the key or the order was deleted. */
function named(text: string, { name }: Grant['source']): string {
  if (name !== null) return text
  return text
    .replace(/^Key \{source\}/, 'A deleted key')
    .replace(/^Order \{source\}/, 'An order')
    .replace('order {source}', 'an order')
    .replace(' by {source}', '')
}

const hour = 3_600_000

/** '3 days', '36 hours', '20 minutes' */
function timeText(ms: number): string {
  if (ms < hour) return amountOf(Math.round(ms / 60_000), 'minute')
  const hours = Math.round(ms / hour)
  return hours < 72 && hours % 24 > 0
    ? amountOf(hours, 'hour')
    : amountOf(Math.round(ms / (24 * hour)), 'day')
}
