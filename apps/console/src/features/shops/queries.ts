import type { BodyInputOf, endpoints, Shop } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, hasFieldErrors } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export { useShops } from '../../lib/api/shops.ts'

export type ShopChanges = BodyInputOf<typeof endpoints.shops.update>

function useRefresh() {
  const client = useQueryClient()
  return () => {
    for (const queryKey of [keys.shops, keys.orders]) void client.invalidateQueries({ queryKey })
  }
}

export function useCreateShop(app: string) {
  const refresh = useRefresh()
  return useWrite({
    mutationFn: async (body: BodyInputOf<typeof endpoints.shops.create>) =>
      (await call(wire.shops.create, { params: { id: app }, body })).shop,
    onSuccess: refresh,
    onError: (error) => {
      if (!hasFieldErrors(error)) toastFailure(error, 'Failed to add the shop')
    },
  })
}

export function useUpdateShop(done: string) {
  const refresh = useRefresh()
  return useWrite({
    mutationFn: ({ id, ...body }: ShopChanges & { id: string }) =>
      call(wire.shops.update, { params: { id }, body }),
    onSuccess: () => {
      refresh()
      toast.success(done)
    },
    onError: (error) => {
      if (!hasFieldErrors(error)) toastFailure(error, 'Failed to change the shop')
    },
  })
}

export function useDeleteShop() {
  const refresh = useRefresh()
  return useWrite({
    mutationFn: ({ _id }: Shop) => call(wire.shops.remove, { params: { id: _id } }),
    onSuccess: () => toast.success('Shop deleted'),
    onError: (error) => toastFailure(error, 'Failed to delete the shop'),
    onSettled: refresh,
  })
}

export function useTestShop() {
  const refresh = useRefresh()
  return useWrite({
    mutationFn: ({ _id }: Shop) => call(wire.shops.test, { params: { id: _id } }),
    onSuccess: refresh,
    onError: (error) => toastFailure(error, 'Failed to send a test order'),
  })
}

const soonMs = 2_000

/** The newest order of a shop, while someone waits for it. */
export const useNewestOrder = (shop: string) =>
  useQuery({
    queryKey: [...keys.orders, 'newest', shop],
    meta: { failure: 'Failed to load orders' },
    queryFn: async ({ signal }) =>
      (await call(wire.orders.list, { query: { shop, limit: 1 }, signal })).orders[0] ?? null,
    refetchInterval: soonMs,
  })

/** How many orders of a shop wait. */
export const useWaitingCount = (shop: string) =>
  useQuery({
    queryKey: [...keys.orders, 'waiting', shop],
    queryFn: async ({ signal }) =>
      (await call(wire.orders.list, { query: { shop, state: 'waiting', limit: 1 }, signal })).pagination,
  }).data
