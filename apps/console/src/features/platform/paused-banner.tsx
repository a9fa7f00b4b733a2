import { CirclePause } from 'lucide-react'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Button } from '../../ui/button.tsx'
import { Callout } from '../../ui/states.tsx'
import { useUpdatePlatformSettings } from './queries.ts'

/** Shown on every page, to every member, while Pause Applications is on. */
export function PausedBanner() {
  const update = useUpdatePlatformSettings()
  return (
    <section aria-label="Paused applications" className="mb-6">
      <Callout
        tone="danger"
        icon={<CirclePause aria-hidden />}
        title="All applications are paused"
        action={
          <May call={wire.settings.update}>
            <Button loading={update.isPending} onClick={() => update.mutate({ pauseApplications: false })}>
              Resume Applications
            </Button>
          </May>
        }
      >
        None of your programs lets anyone in.
      </Callout>
    </section>
  )
}
