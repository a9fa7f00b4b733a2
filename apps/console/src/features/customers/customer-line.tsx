import { Link } from 'react-router'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { customerPath } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { type Linked, useCustomer } from './queries.ts'

const LinkDialog = lazyNamed(() => import('./link-dialog.tsx'), 'LinkDialog')
const linking = {
  license: { 'link-customer': [wire.licenses.update, wire.clients.update] },
  endUser: { 'link-customer': [wire.clients.update] },
}

export interface CustomerLineProps {
  /** Null for none. */
  id: string | null
  linked: Linked
}

/** The customer of a license or an end user, with a button that changes it. */
export function CustomerLine({ id, linked }: CustomerLineProps) {
  const { data } = useCustomer(id)
  const dialog = useCallDialog('license' in linked ? linking.license : linking.endUser)
  const email = data?.customer.email
  const isKnown = id === null || email !== undefined
  return (
    <span className="inline-flex flex-wrap items-center justify-end gap-x-2">
      {id === null ? (
        <span className="font-normal text-fg-muted">—</span>
      ) : (
        <Link
          to={customerPath(id)}
          className="rounded-sm text-accent-text underline-offset-4 hover:underline"
        >
          {email ?? 'Show customer'}
        </Link>
      )}
      {dialog.may('link-customer') && isKnown && (
        <Button
          size="sm"
          variant="ghost"
          className="-my-2 -mr-2"
          aria-label={id === null ? 'Link a customer' : 'Change the customer'}
          onClick={() => dialog.open('link-customer')}
        >
          {id === null ? 'Link' : 'Change'}
        </Button>
      )}
      <DialogSlot>
        {dialog.kind === 'link-customer' && isKnown && (
          <LinkDialog email={email ?? ''} linked={linked} onClose={dialog.close} />
        )}
      </DialogSlot>
    </span>
  )
}
