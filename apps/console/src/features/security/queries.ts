import type { NewPasskey } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { clearFactorRequired } from '../../lib/api/factor-required.ts'
import type { Holder } from '../../lib/api/holders.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

const factorsKey = ({ securityKey }: Holder) => [...securityKey, 'factors']
const sessionsKey = ({ securityKey }: Holder) => [...securityKey, 'sessions']

export function useFactors(holder: Holder) {
  return useQuery({
    queryKey: factorsKey(holder),
    meta: { failure: 'Failed to load your second factors' },
    queryFn: ({ signal }) => call(holder.factors.get, { signal }),
  })
}

/** Where the account is signed in, this session first. */
export function useSessions(holder: Holder) {
  return useQuery({
    queryKey: sessionsKey(holder),
    meta: { failure: 'Failed to load your sessions' },
    queryFn: async ({ signal }) => (await call(holder.sessions.list, { signal })).sessions,
    select: (sessions) => sessions.toSorted((a, b) => Number(b.current) - Number(a.current)),
    refetchOnWindowFocus: true,
  })
}

export function useEndSession(holder: Holder) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (id: string) => call(holder.sessions.end, { params: { id } }),
    onSuccess: () => toast.success('Session ended'),
    onError: (error) => toastFailure(error, 'Failed to end the session'),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsKey(holder) }),
  })
}

export function useEndOtherSessions(holder: Holder) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: () => call(holder.sessions.endOthers),
    onSuccess: () => toast.success('All other sessions ended'),
    onError: (error) => toastFailure(error, 'Failed to end the sessions'),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsKey(holder) }),
  })
}

function useFactorsChanged(holder: Holder) {
  const client = useQueryClient()
  return () => {
    // What a vendor refused for want of a factor is loaded again.
    if (clearFactorRequired()) void client.invalidateQueries()
    else void client.invalidateQueries({ queryKey: holder.securityKey })
  }
}

export function useBeginTotp(holder: Holder) {
  return useWrite({
    mutationFn: () => call(holder.factors.beginTotp),
    onError: (error) => toastFailure(error, 'Failed to set up the authenticator app'),
  })
}

export function useConfirmTotp(holder: Holder) {
  const changed = useFactorsChanged(holder)
  return useWrite({
    mutationFn: async (code: string) =>
      (await call(holder.factors.confirmTotp, { body: { code } })).recoveryCodes,
    onSuccess: () => {
      changed()
      toast.success('Authenticator app added')
    },
  })
}

export function useRemoveTotp(holder: Holder) {
  const changed = useFactorsChanged(holder)
  return useWrite({
    mutationFn: (code: string) => call(holder.factors.removeTotp, { body: { code } }),
    onSuccess: () => {
      changed()
      toast.success('Authenticator app removed')
    },
  })
}

export function useAddPasskey(holder: Holder) {
  const changed = useFactorsChanged(holder)
  return useWrite({
    mutationFn: async ({
      name,
      create,
    }: {
      name: string
      create: (options: object) => Promise<NewPasskey>
    }) => {
      const { options } = await call(holder.factors.passkeyOptions)
      return call(holder.factors.addPasskey, { body: { name, credential: await create(options) } })
    },
    onSuccess: () => {
      changed()
      toast.success('Passkey added')
    },
  })
}

export function useRemovePasskey(holder: Holder) {
  const changed = useFactorsChanged(holder)
  return useWrite({
    mutationFn: (id: string) => call(holder.factors.removePasskey, { params: { id } }),
    onSuccess: () => toast.success('Passkey removed'),
    onError: (error) => toastFailure(error, 'Failed to remove the passkey'),
    onSettled: changed,
  })
}
