import { createHash, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../config.ts'

type MetricsConfig = Pick<Config, 'metricsToken' | 'development'>

/** A development instance, which only this machine reaches, shows its metrics without a token. */
export const offersMetrics = ({ metricsToken, development }: MetricsConfig): boolean =>
  metricsToken !== undefined || development

/** Whether a request with this header may read the metrics. */
export function mayReadMetrics({ metricsToken }: MetricsConfig, authorization: string | undefined): boolean {
  if (metricsToken === undefined) return true
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${metricsToken}`))
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** The newest of the times in the names of backups, in milliseconds since 1970; undefined without a backup. */
export function newestBackup(names: readonly string[]): number | undefined {
  const times = names.flatMap((name) => {
    const [, day, hours, minutes, seconds] =
      /^keyward-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-\d{3}Z\.tar$/.exec(name) ?? []
    return day === undefined ? [] : [Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)]
  })
  return times.length === 0 ? undefined : Math.max(...times)
}
