import { type License, unlimited } from '@keyward/contract'
import { amountOf } from '../../lib/format/words.ts'

interface Line {
  label: string
  before: string
  after: string
}

const texts: { label: string; text: (license: License) => string }[] = [
  { label: 'Type', text: ({ type }) => type?.name ?? 'None' },
  {
    label: 'Devices',
    text: ({ seats, devices }) => {
      if (seats !== null) return amountOf(seats, 'seat')
      return devices === unlimited ? 'Any number' : `${devices}`
    },
  },
  { label: 'Features', text: ({ features }) => features.join(', ') || 'None' },
  { label: 'Grace period', text: ({ graceDays }) => amountOf(graceDays, 'day') },
  {
    label: 'Updates',
    text: ({ updatesForDays }) =>
      updatesForDays === null ? 'All' : `For ${amountOf(updatesForDays, 'day')}`,
  },
  {
    label: 'Seat timeout',
    text: ({ seats, seatTimeoutSeconds }) =>
      seats === null ? 'None' : amountOf(seatTimeoutSeconds, 'second'),
  },
  { label: 'Trial', text: ({ trial }) => (trial ? 'Yes' : 'No') },
]

/** What differs for the customer between two states of a license, besides the expiry. */
export const typeChanges = (now: License, next: License): Line[] =>
  texts
    .map(({ label, text }) => ({ label, before: text(now), after: text(next) }))
    .filter(({ before, after }) => before !== after)
