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
