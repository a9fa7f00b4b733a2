import type { User } from '@keyward/contract'
import { Lock } from 'lucide-react'
import { Link } from 'react-router'
import { roleFacts } from '../../lib/format/roles.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'

/** Shown at the address of a page that the role does not include. */
export function NotIncluded({ user }: { user: User }) {
  const { label, about } = roleFacts[user.role]
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader title="Not included" subtitle={`You work for ${user.vendor.name} as ${label}.`} />
      <Card>
        <EmptyState
          icon={<Lock />}
          title="Your role does not include this page"
          description={`${label}: ${about} Ask the owner of this account if you need more.`}
          actions={
            <Button asChild>
              <Link to={paths.dashboard}>Show Dashboard</Link>
            </Button>
          }
        />
      </Card>
    </div>
  )
}
