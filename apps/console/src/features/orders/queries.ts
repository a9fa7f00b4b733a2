import type { BodyInputOf, endpoints, QueryInputOf, ShopOrder } from '@keyward/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export function useOrders(query: QueryInputOf<typeof endpoints.orders.list>, enabled = true) {
  return useQuery({
    queryKey: [...keys.orders, 'list', query],
    meta: { failure: 'Failed to load orders' },
    queryFn: ({ signal }) => call(wire.orders.list, { query, signal }),
    enabled,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  })
}

export function useRetryOrder() {
  return useWrite({
    mutationFn: async ({
      order,
      ...body
    }: { order: ShopOrder } & BodyInputOf<typeof endpoints.orders.retry>) =>
      (await call(wire.orders.retry, { params: { id: order._id }, body })).order,
    onSuccess: ({ state, reason }) => {
      if (state === 'waiting') toast.error('The order still waits', { description: reason ?? undefined })
      else toast.success('The order waits no longer')
    },
    onError: (error) => toastFailure(error, 'Failed to retry the order'),
  })
}

export function useAddressOrder() {
  return useWrite({
    mutationFn: ({ id, email }: { id: string; email: string }) =>
      call(wire.orders.update, { params: { id }, body: { email } }),
    onSuccess: ({ order: { mail } }) =>
      toast.success(mail === 'queued' ? 'The keys are mailed' : 'The address is saved'),
    onError: (error) => toastFailure(error, 'Failed to save the address'),
  })
}

export function useMailOrder() {
  return useWrite({
    mutationFn: ({ _id }: ShopOrder) => call(wire.orders.mail, { params: { id: _id } }),
    onSuccess: () => toast.success('The keys are mailed again'),
    onError: (error) => toastFailure(error, 'Failed to mail the keys'),
  })
}
