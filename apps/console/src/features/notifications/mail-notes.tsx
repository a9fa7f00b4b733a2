import { MailCheck, MailX } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useOwner } from '../../lib/api/account.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Button } from '../../ui/button.tsx'
import { Callout } from '../../ui/states.tsx'
import { useConfirmEmail, useRequestConfirmation } from './queries.ts'

/** Says why no mail would arrive, and what helps. */
export function MailNotes() {
  const config = usePublicConfig()
  const owner = useOwner().data
  const request = useRequestConfirmation()
  const mayChange = useMay()(wire.notifications.update)
  useMailedToken()
  if (config?.passwordReset === 'operator') {
    return (
      <Callout tone="warning" icon={<MailX aria-hidden />} title="This server sends no mail">
        Its operator has not set up a mail server. Your choices are kept, but nothing is sent.
      </Callout>
    )
  }
  if (!owner || owner.emailConfirmed || !mayChange) return null
  return (
    <Callout
      tone="warning"
      icon={<MailCheck aria-hidden />}
      title="Confirm your address"
      action={
        <Button onClick={() => request.mutate()} loading={request.isPending}>
          Mail Me a Link
        </Button>
      }
    >
      <span className="break-words">{owner.email}</span> is not confirmed. Until it is, only mails about
      sign-ins are sent there.
    </Callout>
  )
}

/** Uses the token behind `#` of a mailed link once, and removes it from the address. */
function useMailedToken() {
  const { hash, pathname } = useLocation()
  const navigate = useNavigate()
  const { mutate } = useConfirmEmail()
  const used = useRef('')
  useEffect(() => {
    const token = hash.slice(1)
    if (token === '' || used.current === token) return
    used.current = token
    mutate(token)
    void navigate(pathname, { replace: true })
  }, [hash, pathname, mutate, navigate])
}
