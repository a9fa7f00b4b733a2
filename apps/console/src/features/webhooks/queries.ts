import type { BodyInputOf, DataOf, Delivery, endpoints, QueryInputOf, Webhook } from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure, toastUnlessFields } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

/** A secret with the webhook that it belongs to. It cannot be shown again. */
export interface ShownSecret {
  webhook: Webhook
  secret: string
  /** It replaced one that signs for some time yet. */
  rotated: boolean
}
export type WebhookChanges = BodyInputOf<typeof endpoints.webhooks.update>
export type DeliveryDetails = DataOf<typeof endpoints.webhooks.delivery>['delivery']
type DeliveriesQuery = QueryInputOf<typeof endpoints.webhooks.deliveries>

const listKey = [...keys.webhooks, 'list']
const deliveriesKey = (id: string) => [...keys.webhooks, id, 'deliveries']
const deliveryKey = (id: string, deliveryId: string) => [...keys.webhooks, id, 'delivery', deliveryId]

const soonMs = 60_000
const busyMs = 2_000
const calmMs = 15_000

/** Attempts are not recorded, so no live event announces them: poll often while one is due soon. */
const intervalOf = (deliveries: readonly Pick<Delivery, 'state' | 'nextAt'>[] = []) =>
  deliveries.some(({ nextAt }) => nextAt !== null && Date.parse(nextAt) < serverNow() + soonMs)
    ? busyMs
    : calmMs

export const useWebhooks = () =>
  useQuery({
    queryKey: listKey,
    meta: { failure: 'Failed to load webhooks' },
    queryFn: async ({ signal }) => (await call(wire.webhooks.list, { signal })).webhooks,
    refetchOnWindowFocus: true,
    refetchInterval: calmMs,
  })

/** One of the list. It has the states of a query that reads it alone. */
export function useWebhook(id: string) {
  const { data: all, error, refetch, isFetching } = useWebhooks()
  const data = all?.find(({ _id }) => _id === id)
  const missing = all && !data && new ApiError('Webhook not found', { status: 404, code: 'not_found' })
  return { data, error: missing || error, refetch, isFetching }
}

export const useDeliveries = (id: string, query: DeliveriesQuery) =>
  useQuery({
    queryKey: [...deliveriesKey(id), query],
    meta: { failure: 'Failed to load deliveries' },
    queryFn: ({ signal }) => call(wire.webhooks.deliveries, { params: { id }, query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => intervalOf(state.data?.deliveries),
  })

export const useDelivery = (id: string, deliveryId: string) =>
  useQuery({
    queryKey: deliveryKey(id, deliveryId),
    queryFn: async ({ signal }) =>
      (await call(wire.webhooks.delivery, { params: { id, deliveryId }, signal })).delivery,
    staleTime: 0,
    refetchInterval: ({ state }) => intervalOf(state.data && [state.data]),
  })

export function useCreateWebhook() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.webhooks.create>) => call(wire.webhooks.create, { body }),
    onSuccess: ({ webhook }) =>
      client.setQueryData<Webhook[]>(listKey, (present) => present && [webhook, ...present]),
    onError: toastUnlessFields('Failed to create the webhook'),
  })
}

export function useUpdateWebhook(done: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ id, ...body }: WebhookChanges & { id: string }) =>
      call(wire.webhooks.update, { params: { id }, body }),
    onSuccess: ({ webhook }) => {
      client.setQueryData<Webhook[]>(listKey, (present) =>
        present?.map((one) => (one._id === webhook._id ? webhook : one)),
      )
      toast.success(done)
    },
    onError: toastUnlessFields('Failed to change the webhook'),
  })
}

export function useDeleteWebhook() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: ({ _id }: Webhook) => call(wire.webhooks.delete, { params: { id: _id } }),
    onSuccess: (_, { _id }) => {
      client.setQueryData<Webhook[]>(listKey, (present) => present?.filter((one) => one._id !== _id))
      toast.success('Webhook deleted')
    },
    onError: (error) => toastFailure(error, 'Failed to delete the webhook'),
  })
}

export const useRotateSecret = () =>
  useWrite({
    mutationFn: ({ _id }: Webhook) => call(wire.webhooks.rotateSecret, { params: { id: _id } }),
    onError: (error) => toastFailure(error, 'Failed to rotate the secret'),
  })

export function useSendTest() {
  return useWrite({
    mutationFn: (id: string) => call(wire.webhooks.test, { params: { id } }),
    onError: (error) => toastFailure(error, 'Failed to send a test event'),
  })
}

export function useRetry(id: string) {
  return useWrite({
    mutationFn: (deliveryId: string) => call(wire.webhooks.retry, { params: { id, deliveryId } }),
    onSuccess: () => toast.success('The event is sent again'),
    onError: (error) => toastFailure(error, 'Failed to send the event again'),
  })
}
