import type { License } from '@keyward/contract'
import { call } from '../../lib/api/call.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { Button } from '../../ui/button.tsx'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

const states: Readonly<Record<License['mail'], string>> = {
  queued: 'Queued',
  sent: 'Sent',
  failed: 'Failed',
  waiting: 'Waits',
  none: 'None',
}

const waits: Readonly<Record<NonNullable<License['mailWaitsFor']>, string>> = {
  confirmation: 'until you confirm your email address in the settings',
  day: 'until tomorrow: the mails of today are used up',
  free_orders: 'for its turn',
}

/** Mails the key of a license to its customer. */
function useMailKey() {
  return useWrite({
    mutationFn: (id: string) => call(wire.licenses.mail, { params: { id } }),
    onSuccess: () => toast.success('The key is mailed'),
    onError: (error) => toastFailed('Mail Failed', error, 'Failed to mail the key.'),
  })
}

/** The mail with the key to the customer, and the button that sends it. */
export function KeyMail({ license, to }: { license: License; to?: string | undefined }) {
  const may = useMay()
  const send = useMailKey()
  const { mail, mailWaitsFor } = license
  const isOnItsWay = mail === 'queued' || mail === 'waiting'
  return (
    <span className="flex flex-wrap items-center justify-end gap-2">
      {to && <bdi>{to}</bdi>}
      {states[mail]}
      {mailWaitsFor && ` ${waits[mailWaitsFor]}`}
      {may(wire.licenses.mail) && !isOnItsWay && (
        <Button size="sm" loading={send.isPending} onClick={() => send.mutate(license._id)}>
          {mail === 'none' ? 'Mail Key' : 'Mail Again'}
        </Button>
      )}
    </span>
  )
}
