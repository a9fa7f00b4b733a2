import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/states.tsx'

export interface NoAppsProps {
  icon: ReactNode
  /** For example 'A license belongs to an app.' */
  reason: string
  action?: string
}

/** Shown instead of a list until the owner has an app. */
export function NoApps({ icon, reason, action = 'Create Your First App' }: NoAppsProps) {
  const mayCreate = useMay()(wire.apps.create)
  return (
    <Card>
      <EmptyState
        icon={icon}
        title="No Application Created"
        description={`${reason} ${mayCreate ? 'Create an app first to access this section.' : 'There is no app that you may see.'}`}
        actions={
          mayCreate && (
            <Button asChild variant="primary">
              <Link to={paths.dashboard}>{action}</Link>
            </Button>
          )
        }
      />
    </Card>
  )
}
