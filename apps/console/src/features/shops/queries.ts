import type { BodyInputOf, endpoints, Shop } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure, toastUnlessFields } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export { useShops } from '../../lib/api/shops.ts'

export type ShopChanges = BodyInputOf<typeof endpoints.shops.update>

export function useCreateShop(app: string) {
  return useWrite({
    mutationFn: async (body: BodyInputOf<typeof endpoints.shops.create>) =>
      (await call(wire.shops.create, { params: { id: app }, body })).shop,
    onError: toastUnlessFields('Failed to add the shop'),
  })
}

export function useUpdateShop(done: string) {
  return useWrite({
    mutationFn: ({ id, ...body }: ShopChanges & { id: string }) =>
      call(wire.shops.update, { params: { id }, body }),
    onSuccess: () => toast.success(done),
    onError: toastUnlessFields('Failed to change the shop'),
  })
}

export function useDeleteShop() {
  return useWrite({
    mutationFn: ({ _id }: Shop) => call(wire.shops.remove, { params: { id: _id } }),
    onSuccess: () => toast.success('Shop deleted'),
    onError: (error) => toastFailure(error, 'Failed to delete the shop'),
  })
}

export function useTestShop() {
  return useWrite({
    mutationFn: ({ _id }: Shop) => call(wire.shops.test, { params: { id: _id } }),
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
