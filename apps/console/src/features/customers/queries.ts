import type { BodyInputOf, Customer, DataOf, endpoints, QueryInputOf } from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callForFile } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { saveFile } from '../../lib/browser/save-file.ts'
import { toastFailed, toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSwitches } from '../../ui/use-switches.ts'

type CustomerPage = DataOf<typeof endpoints.customers.get>
export type CustomerQuery = QueryInputOf<typeof endpoints.customers.list>

export function useCustomers(query: CustomerQuery, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.customers, query],
    meta: { failure: 'Failed to load customers' },
    queryFn: ({ signal }) => call(wire.customers.list, { query, signal }),
    enabled,
    staleTime: 5_000,
    refetchOnMount: true,
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
}

/** A customer with its newest licenses and end users. */
export function useCustomer(id: string | null) {
  return useQuery({
    queryKey: [...keys.customers, 'one', id],
    meta: { failure: 'Failed to load the customer' },
    queryFn: ({ signal }) => call(wire.customers.get, { params: { id: id ?? '' }, signal }),
    enabled: id !== null,
    staleTime: 5_000,
    // No event follows when a mail goes out.
    refetchInterval: ({ state }) => state.data?.mails.some((mail) => mail.state === 'queued') && 5_000,
    refetchOnWindowFocus: true,
  })
}

/** The newest orders of a customer. */
export function useOrdersOf(customer: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.customers, 'orders', customer],
    meta: { failure: 'Failed to load the orders' },
    queryFn: ({ signal }) => call(wire.orders.list, { query: { customer, limit: 20 }, signal }),
    enabled,
    staleTime: 5_000,
  })
}

/** Mails the keys of an order, or that of a license, again. */
export function useMailAgain() {
  return useWrite({
    mutationFn: async ({
      order,
      license = '',
    }: {
      order?: string | undefined
      license?: string | undefined
    }) => {
      if (order === undefined) await call(wire.licenses.mail, { params: { id: license } })
      else await call(wire.orders.mail, { params: { id: order } })
    },
    onSuccess: () => toast.success('The keys are mailed again'),
    onError: (error) => toastFailure(error, 'Failed to mail the keys'),
  })
}

export function useCreateCustomer() {
  return useWrite({
    mutationFn: async (body: BodyInputOf<typeof endpoints.customers.create>) =>
      (await call(wire.customers.create, { body })).customer,
    onSuccess: ({ email }) =>
      toast.success('Customer Added', { description: `You can now link licenses to ${email}.` }),
    onError: (error) => toastFailed('Adding Failed', error, 'Failed to add the customer.'),
  })
}

export function useEditCustomer() {
  return useWrite({
    mutationFn: ({ id, body }: { id: string; body: BodyInputOf<typeof endpoints.customers.update> }) =>
      call(wire.customers.update, { params: { id }, body }),
    onSuccess: ({ customer }) =>
      toast.success('Customer Updated', { description: `The changes to ${customer.email} are saved.` }),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to update the customer.'),
  })
}

/** Whether a customer gets mails about ends and payments. */
export function useCustomerMailSwitch(id: string) {
  const client = useQueryClient()
  const queryKey = [...keys.customers, 'one', id]
  return useSwitches<Pick<Customer, 'mails'>>({
    queryKey,
    read: () => client.getQueryData<CustomerPage>(queryKey)?.customer,
    show: (change) =>
      client.setQueryData<CustomerPage>(
        queryKey,
        (now) => now && { ...now, customer: { ...now.customer, ...change } },
      ),
    send: (body) => call(wire.customers.update, { params: { id }, body }),
    done: 'Customer Updated',
    failed: 'Failed to update the customer',
  })
}

export function useEraseCustomer() {
  return useWrite({
    mutationFn: ({ _id }: Customer) => call(wire.customers.remove, { params: { id: _id } }),
    onSuccess: () =>
      toast.success('Customer Erased', { description: 'Its licenses and orders stay without it.' }),
    onError: (error) =>
      toastFailed('Erasing Failed', error, 'Failed to erase the customer. Erase it again to continue.'),
  })
}

/** Saves all that is known of a person as a file. */
export function useExportCustomer() {
  return useWrite({
    mutationFn: async ({ _id }: Customer) => {
      const response = await callForFile(wire.customers.export, { params: { id: _id } })
      const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
      const file = { name: name ?? `customer-${_id}.json`, content: await response.blob() }
      saveFile(file.name, [file.content], 'application/json')
      return file.name
    },
    onSuccess: (name) => toast.success('Export Ready', { description: name }),
    onError: (error) => toastFailed('Export Failed', error, 'The file arrived incomplete. Please try again.'),
  })
}

/** A license or an end user that names a customer. */
export type Linked = { license: string } | { endUser: string }

export function useLinkCustomer(linked: Linked) {
  return useWrite({
    mutationFn: async (customer: string | null) => {
      const body = { customer }
      if ('license' in linked) await call(wire.licenses.update, { params: { id: linked.license }, body })
      else await call(wire.clients.update, { params: { id: linked.endUser }, body })
    },
    onSuccess: (_, customer) => toast.success(customer === null ? 'Customer Removed' : 'Customer Linked'),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to change the customer.'),
  })
}
