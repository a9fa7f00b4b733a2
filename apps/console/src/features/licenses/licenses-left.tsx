import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { useLicensesLeft } from './queries.ts'

/** What is left of the plan's limit, with the way to more. Loads the document: see UpgradeLink in the resellers page. */
export function LicensesLeft({ app }: { app: string | undefined }) {
  const left = useLicensesLeft(app)
  if (left === undefined || left === null) return null
  return (
    <span className="text-[0.8125rem] text-fg-muted">
      <span className={left === 0 ? 'font-medium text-warning-text' : 'tabular-nums'}>{left} left</span>
      <May call={wire.payments.createOrder}>
        {' · '}
        <a
          href={paths.subscription}
          className="rounded-sm text-accent-text underline-offset-4 hover:underline"
        >
          Upgrade
        </a>
      </May>
    </span>
  )
}
