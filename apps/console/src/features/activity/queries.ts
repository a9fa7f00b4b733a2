import type { endpoints, Fix, QueryInputOf } from '@keyward/contract'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { call } from '../../lib/api/call.ts'
import { newIdempotencyKey } from '../../lib/api/idempotency-key.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { type Wire, wire } from '../../lib/api/wire.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export type ActivityQuery = QueryInputOf<typeof endpoints.activity.list>

export function useActivity(query: ActivityQuery, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.activity, query],
    meta: { failure: 'Failed to load activity' },
    queryFn: ({ signal }) => call(wire.activity.list, { query, signal }),
    enabled,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  })
}

export function useExplanation(reference: string) {
  return useQuery({
    queryKey: [...keys.activity, 'explain', reference],
    queryFn: ({ signal }) => call(wire.activity.explain, { params: { reference }, signal }),
    staleTime: 0,
    retry: false,
  })
}

const monthMs = 30 * 24 * 60 * 60 * 1000

async function apply({ action, target: id, value }: Fix, idempotencyKey: string): Promise<unknown> {
  const params = { id }
  switch (action) {
    case 'resume_platform':
      return call(wire.settings.update, { body: { pauseApplications: false } })
    case 'resume_app':
      return call(wire.apps.update, { params, body: { paused: false } })
    case 'allow_hash': {
      const [version, hash] = JSON.parse(value ?? '[]') as [string, string]
      const { hashes } = await call(wire.blocklist.hashes, { params })
      return call(wire.blocklist.setHashes, { params, body: { hashes: [...hashes, { version, hash }] } })
    }
    case 'unban_client':
      return call(wire.clients.toggleBan, { params, body: { is_banned: false } })
    case 'unban_license':
      return call(wire.licenses.toggleBan, { params, body: { is_banned: false } })
    case 'resume_client':
      return call(wire.clients.togglePause, { params, body: { paused: false } })
    case 'extend_client':
      return call(wire.clients.extend, { params, body: { days: 30 }, idempotencyKey })
    case 'extend_license':
      return call(wire.licenses.update, {
        params,
        body: { expiresAt: new Date(serverNow() + monthMs).toISOString() },
      })
    case 'unblock':
      return call(wire.blocklist.remove, { params })
    case 'reset_hwid':
      return call(wire.clients.resetHwid, { params })
    case 'allow_address': {
      const { app } = await call(wire.apps.get, { params })
      const vpnAllowed = [...app.settings.vpnAllowed, value ?? '']
      return call(wire.apps.update, { params, body: { settings: { vpnAllowed } } })
    }
  }
}

/** The calls that each fix makes. */
export const fixCalls: Record<Fix['action'], readonly Wire[]> = {
  resume_platform: [wire.settings.update],
  resume_app: [wire.apps.update],
  allow_hash: [wire.blocklist.hashes, wire.blocklist.setHashes],
  unban_client: [wire.clients.toggleBan],
  unban_license: [wire.licenses.toggleBan],
  resume_client: [wire.clients.togglePause],
  extend_client: [wire.clients.extend],
  extend_license: [wire.licenses.update],
  unblock: [wire.blocklist.remove],
  reset_hwid: [wire.clients.resetHwid],
  allow_address: [wire.apps.get, wire.apps.update],
}

/** Removes the reason for a refusal, then refreshes everything that may show it. */
export function useFix() {
  const client = useQueryClient()
  const key = useRef(newIdempotencyKey())
  return useMutation({
    mutationFn: (fix: Fix) => apply(fix, key.current),
    onSuccess: () => {
      key.current = newIdempotencyKey()
      void client.invalidateQueries()
      toast.success('Changed. The program can try again.')
    },
    onError: (error) => toastFailure(error, 'Failed to change this'),
  })
}
