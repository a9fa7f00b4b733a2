import { formatNumber } from '../../lib/format/numbers.ts'

const units = ['KB', 'MB', 'GB', 'TB']

/** '12.3 MB'; less than a kilobyte is one. */
export function formatBytes(bytes: number): string {
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes) / 3) - 1))
  const value = Math.max(bytes / 1000 ** (at + 1), 1)
  return `${formatNumber(Math.round(10 * value) / 10)} ${units[at]}`
}
