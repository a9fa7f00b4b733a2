import { CalendarClock, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { readStored, writeStored } from '../../lib/browser/stored.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import type { Notice } from './notice.ts'

const keyOf = (ownerId: string) => `keyward-plan-notice-${ownerId}`

/** Shown on every page when premium ends soon or ended recently. Dismissing it lasts until another end date. */
export function PlanNotice({ ownerId, notice }: { ownerId: string; notice: Notice }) {
  const [dismissed, setDismissed] = useState(() => readStored(keyOf(ownerId)))
  const sells = usePublicConfig()?.payments !== 'off'
  const id = `${notice.kind} ${notice.date}`
  if (dismissed === id) return null

  function dismiss() {
    setDismissed(id)
    writeStored(keyOf(ownerId), id)
  }

  const date = <DateText value={notice.date} />
  return (
    <section
      aria-label="About your plan"
      className="mb-6 flex items-center gap-x-3 gap-y-2 rounded-lg border border-warning-line bg-warning-soft py-2 pr-2 pl-3.5 max-md:items-start"
    >
      <CalendarClock aria-hidden className="size-4 shrink-0 text-warning-text max-md:mt-1.5" />
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-2 max-md:py-1">
        <p className="min-w-0 flex-1 basis-64">
          {notice.kind === 'ending' ? (
            <>Premium ends on {date}. It does not renew automatically.</>
          ) : (
            <>
              Premium ended on {date}. Nothing is deleted; the limits of the free plan apply to anything new,
              and resellers can no longer generate licenses.
            </>
          )}
        </p>
        {sells && (
          <May call={wire.payments.createOrder}>
            <Button asChild size="sm">
              <Link to={paths.subscription}>Renew</Link>
            </Button>
          </May>
        )}
      </div>
      <IconButton label="Dismiss" onClick={dismiss}>
        <X />
      </IconButton>
    </section>
  )
}
