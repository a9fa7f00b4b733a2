import { type PortalLicenseType, unlimited } from '@keyward/contract'
import { durationText } from './ending.ts'
import { amountOf } from './words.ts'

/** 'Never', '30 days', '30 days from first use' */
function termText({ term, duration }: Pick<PortalLicenseType, 'term' | 'duration'>): string {
  if (duration === null) return 'Never expires'
  return term === 'first_use' ? `${durationText(duration)} from first use` : durationText(duration)
}

/** What licenses of a type allow, in a few words: '1 year from first use, 3 devices, pro'. */
export function typeSummary(type: PortalLicenseType): string {
  const { devices, seats, graceDays, updatesForDays, features, trial } = type
  return [
    termText(type),
    graceDays > 0 && `${amountOf(graceDays, 'grace day')}`,
    seats !== null
      ? amountOf(seats, 'floating seat')
      : devices === unlimited
        ? 'any number of devices'
        : amountOf(devices, 'device'),
    updatesForDays !== null && `updates for ${amountOf(updatesForDays, 'day')}`,
    trial && 'trial',
    ...features,
  ]
    .filter(Boolean)
    .join(', ')
}
