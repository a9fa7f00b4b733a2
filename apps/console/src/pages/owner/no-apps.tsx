import type { ReactNode } from 'react'
import { Link } from 'react-router'
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
  return (
    <Card>
      <EmptyState
        icon={icon}
        title="No Application Created"
        description={`${reason} Create an app first to access this section.`}
        actions={
          <Button asChild variant="primary">
            <Link to={paths.dashboard}>{action}</Link>
          </Button>
        }
      />
    </Card>
  )
}
