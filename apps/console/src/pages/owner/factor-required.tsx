import { ShieldAlert } from 'lucide-react'
import { Link } from 'react-router'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useTitle } from '../../ui/use-title.ts'

/** Replaces the pages of a member whose vendor requires a second factor, until there is one. */
export function FactorRequired() {
  useTitle('Second Factor Required')
  return (
    <Card>
      <EmptyState
        icon={<ShieldAlert />}
        title="Set up a second factor first"
        description="The owner requires one of all members. An authenticator app or a passkey takes a minute."
        actions={
          <Button asChild variant="primary">
            <Link to={paths.security}>Set Up</Link>
          </Button>
        }
      />
    </Card>
  )
}
