import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/states.tsx'

export interface NoAppsProps {
  icon: ReactNode
  /** What needs an app: 'A license belongs to an app.' */
  why: string
  action?: string
}

/** In the place of a list that has nothing to show before there is an app. */
export function NoApps({ icon, why, action = 'Create Your First App' }: NoAppsProps) {
  return (
    <Card>
      <EmptyState
        icon={icon}
        title="No Application Created"
        description={`${why} Create an app first to access this section.`}
        actions={
          <Button asChild variant="primary">
            <Link to={paths.dashboard}>{action}</Link>
          </Button>
        }
      />
    </Card>
  )
}
