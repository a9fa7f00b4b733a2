import { Link } from 'react-router'
import { Button } from './button.tsx'
import { Card, CardHeader } from './card.tsx'

/** Leads from a profile to its page about security. */
export const SecurityLink = ({ to }: { to: string }) => (
  <Card>
    <CardHeader
      title="Security"
      description="Second factor, passkeys, and where you are signed in."
      actions={
        <Button asChild>
          <Link to={to}>Security Settings</Link>
        </Button>
      }
    />
  </Card>
)
