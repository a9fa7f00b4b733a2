import type {
  BodyInputOf,
  CustomerMailSettings,
  DataOf,
  endpoints,
  MailKind,
  QueryInputOf,
} from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callWithMessage } from '../../../lib/api/call.ts'
import { keys } from '../../../lib/api/query-keys.ts'
import { useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { useWrite } from '../../../lib/api/write.ts'
import { toastFailure } from '../../../ui/failure-toast.tsx'
import { toast } from '../../../ui/toast.tsx'
import { useSwitches } from '../../../ui/use-switches.ts'

export type BuyerMail = DataOf<typeof endpoints.appMails.get>

const mailsKey = (id: string) => [...keys.app, id, 'mail']
const localeQuery = (locale: string | undefined) => (locale === undefined ? {} : { locale })

/** Which mail of an app. */
export interface Named {
  id: string
  kind: MailKind
  /** Undefined for all languages without one of their own. */
  locale: string | undefined
}

const keyOf = ({ id, kind, locale }: Named) => [...mailsKey(id), kind, locale ?? '']

/** A mail in a language, or the one for all others. */
export function useBuyerMail(named: Named) {
  const { id, kind, locale } = named
  return useQuery({
    queryKey: keyOf(named),
    queryFn: ({ signal }) =>
      call(wire.appMails.get, { params: { id }, query: { kind, ...localeQuery(locale) }, signal }),
    staleTime: 0,
  })
}

export function useUpdateBuyerMail(named: Named) {
  const { id, kind, locale } = named
  const change = useChangedMail(named)
  return useWrite({
    mutationFn: (body: Omit<BodyInputOf<typeof endpoints.appMails.update>, 'locale'>) =>
      call(wire.appMails.update, {
        params: { id },
        query: { kind },
        body: { ...body, ...localeQuery(locale) },
      }),
    onSuccess: (mail) => {
      change(mail)
      toast.success('Mail updated successfully')
    },
    onError: (error) => toastFailure(error, 'Failed to update the mail'),
  })
}

export function useResetBuyerMail(named: Named) {
  const { id, kind, locale } = named
  const change = useChangedMail(named)
  return useWrite({
    mutationFn: () => call(wire.appMails.reset, { params: { id }, query: { kind, ...localeQuery(locale) } }),
    onSuccess: (mail) => {
      change(mail)
      toast.info('Mail reset to the default')
    },
    onError: (error) => toastFailure(error, 'Failed to update the mail'),
  })
}

export function useTestBuyerMail({ id, kind, locale }: Named) {
  return useWrite({
    mutationFn: () =>
      callWithMessage(wire.appMails.test, { params: { id }, query: { kind }, body: localeQuery(locale) }),
    onSuccess: ({ message }) => toast.success(message ?? 'Test sent'),
    onError: (error) => toastFailure(error, 'Failed to send the test'),
  })
}

/** Other languages may fall back to the mail that changed. */
function useChangedMail(named: Named) {
  const client = useQueryClient()
  return (mail: BuyerMail) => {
    client.removeQueries({ queryKey: mailsKey(named.id), type: 'inactive' })
    client.setQueryData(keyOf(named), mail)
  }
}

/** A license of the app whose values the preview shows; undefined while there is none. */
export function useMailSample({ id, kind, locale }: Named) {
  const may = useMay()(wire.customerMails.sample)
  const query = useQuery({
    queryKey: [...mailsKey(id), 'sample', kind, locale ?? ''],
    queryFn: ({ signal }) =>
      call(wire.customerMails.sample, { params: { id }, query: { kind, ...localeQuery(locale) }, signal }),
    enabled: may && kind !== 'purchase',
  })
  return query.data?.sample ?? undefined
}

const settingsKey = (id: string) => [...keys.app, id, 'customer-mails']

export function useCustomerMailSettings(id: string) {
  return useQuery({
    queryKey: settingsKey(id),
    queryFn: ({ signal }) => call(wire.customerMails.get, { params: { id }, signal }),
  })
}

const mailsSaved = {
  done: 'Mails to customers saved',
  failed: 'Failed to save the mails to customers',
}

export function useUpdateCustomerMails(id: string) {
  const client = useQueryClient()
  const queryKey = settingsKey(id)
  return useSwitches<CustomerMailSettings>({
    queryKey,
    read: () => client.getQueryData(queryKey),
    show: (change) =>
      client.setQueryData<CustomerMailSettings>(queryKey, (now) => now && { ...now, ...change }),
    send: (body) => call(wire.customerMails.update, { params: { id }, body }),
    ...mailsSaved,
  })
}

/** Saves how many days before a license ends its customer gets a mail. */
export function useSaveDays(id: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (endsSoonDays: number[]) =>
      call(wire.customerMails.update, { params: { id }, body: { endsSoonDays } }),
    onSuccess: (settings) => {
      client.setQueryData<CustomerMailSettings>(settingsKey(id), settings)
      toast.success(mailsSaved.done)
    },
    onError: (error) => toastFailure(error, mailsSaved.failed),
  })
}

export type ToldState = NonNullable<QueryInputOf<typeof endpoints.customerMails.list>['state']>

/** The newest mails to customers of an app. */
export function useToldCustomers(
  id: string,
  { state, page }: { state: ToldState | undefined; page: number },
) {
  return useQuery({
    queryKey: [...settingsKey(id), 'list', state ?? '', page],
    queryFn: ({ signal }) =>
      call(wire.customerMails.list, {
        query: { app: id, page, limit: 10, ...(state !== undefined && { state }) },
        signal,
      }),
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
}
