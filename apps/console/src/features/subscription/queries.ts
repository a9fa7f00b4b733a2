import type { Subscription } from '@keyward/contract'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callWithMessage } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

const minute = 60_000

/** Refetches every few seconds while `poll` returns true. */
export function useSubscription(poll = () => false) {
  return useQuery({
    queryKey: keys.subscriptionStatus,
    meta: { failure: 'Failed to fetch subscription status' },
    queryFn: async ({ signal }) => (await call(wire.plans.subscription, { signal })).subscription,
    staleTime: 5 * minute,
    refetchInterval: () => (poll() ? 4000 : false),
  })
}

export function usePlans() {
  return useQuery({
    queryKey: [...keys.subscription, 'plans'],
    queryFn: async ({ signal }) => (await call(wire.plans.list, { signal })).plans,
    staleTime: minute,
  })
}

export function usePricing() {
  return useQuery({
    queryKey: [...keys.subscription, 'pricing'],
    queryFn: ({ signal }) => call(wire.plans.pricing, { signal }),
    staleTime: minute,
  })
}

/** The owner's payments, refetched while one of them is in progress. */
export function usePayments() {
  return useQuery({
    queryKey: keys.payments,
    queryFn: async ({ signal }) => (await call(wire.payments.history, { signal })).payments,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'pending' || status === 'refunding') ? 15_000 : false,
  })
}

/** Refetches plans, prices and the state of the owner's plan. */
export function useRefreshPlans() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: () => client.refetchQueries({ queryKey: keys.subscription }, { throwOnError: true }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.owner })
      void client.invalidateQueries({ queryKey: keys.payments })
      toast.success('Plans refreshed successfully!')
    },
    onError: () => toast.error('Failed to refresh plans'),
  })
}

/** Shows the new state of the plan and refetches everything that depends on its limits. */
export function showSubscription(client: QueryClient, subscription: Subscription) {
  client.setQueryData(keys.subscriptionStatus, subscription)
  for (const queryKey of [keys.owner, keys.payments, keys.apps, keys.dashboard, keys.resellers]) {
    void client.invalidateQueries({ queryKey })
  }
}

export function useCancelSubscription(onDone: () => void) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (refund: boolean) => callWithMessage(wire.payments.cancelSubscription, { body: { refund } }),
    onSuccess: ({ data, message }) => {
      client.setQueryData(keys.owner, data.user)
      client.setQueryData(keys.subscriptionStatus, data.user.subscription)
      toast.success(message ?? 'Subscription cancelled')
      onDone()
    },
    onError: (error) => toastFailure(error, 'Failed to cancel subscription'),
  })
}
