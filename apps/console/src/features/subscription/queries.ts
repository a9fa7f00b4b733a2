import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api.ts'
import { keys } from '../../lib/keys.ts'
import { wire } from '../../lib/wire.ts'
import { toast } from '../../ui/toast.tsx'

const minute = 60_000

export function useSubscription() {
  return useQuery({
    queryKey: [...keys.subscription, 'status'],
    queryFn: async ({ signal }) => (await call(wire.plans.subscription, { signal })).subscription,
    staleTime: 5 * minute,
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
    queryFn: async ({ signal }) => (await call(wire.plans.pricing, { signal })).plans,
    staleTime: minute,
  })
}

/** Plans, prices and the state of the own plan, fetched anew. */
export function useRefreshPlans() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => client.refetchQueries({ queryKey: keys.subscription }, { throwOnError: true }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.owner })
      toast.success('Plans refreshed successfully!')
    },
    onError: () => toast.error('Failed to refresh plans'),
  })
}
