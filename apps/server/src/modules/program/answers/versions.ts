import { isOlder } from '../../apps/apps.versions.ts'
import type { CoveredReleases } from '../facts/facts.ts'

/** Whether the license covers a newer version than the program's. A version that the app does not list is covered. */
export function hasUpdate(
  program: string | null,
  app: string,
  { until, newestAt, last }: CoveredReleases & { until: number | null },
): boolean {
  if (program === null) return false
  const isCovered = until === null || newestAt === null || newestAt <= until
  if (isCovered && isOlder(program, app)) return true
  return until !== null && last !== null && isOlder(program, last)
}
