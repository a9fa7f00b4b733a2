import type { BodyInputOf, DataOf, endpoints } from '@keyward/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callWithMessage } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'

export type BuyerMail = DataOf<typeof endpoints.appMails.get>

const mailsKey = (id: string) => [...keys.app, id, 'mail']
const localeQuery = (locale: string | undefined) => (locale === undefined ? {} : { locale })

/** The mail to buyers in a language, or the one for all others. */
export function useBuyerMail(id: string, locale: string | undefined) {
  return useQuery({
    queryKey: [...mailsKey(id), locale ?? ''],
    queryFn: ({ signal }) => call(wire.appMails.get, { params: { id }, query: localeQuery(locale), signal }),
    staleTime: 0,
  })
}

export function useUpdateBuyerMail(id: string, locale: string | undefined) {
  const change = useChangedMail(id, locale)
  return useWrite({
    mutationFn: (body: Omit<BodyInputOf<typeof endpoints.appMails.update>, 'locale'>) =>
      call(wire.appMails.update, { params: { id }, body: { ...body, ...localeQuery(locale) } }),
    onSuccess: (mail) => {
      change(mail)
      toast.success('Mail updated successfully')
    },
    onError: (error) => toastFailure(error, 'Failed to update the mail'),
  })
}

export function useResetBuyerMail(id: string, locale: string | undefined) {
  const change = useChangedMail(id, locale)
  return useWrite({
    mutationFn: () => call(wire.appMails.reset, { params: { id }, query: localeQuery(locale) }),
    onSuccess: (mail) => {
      change(mail)
      toast.info('Mail reset to the default')
    },
    onError: (error) => toastFailure(error, 'Failed to update the mail'),
  })
}

export function useTestBuyerMail(id: string, locale: string | undefined) {
  return useWrite({
    mutationFn: () => callWithMessage(wire.appMails.test, { params: { id }, body: localeQuery(locale) }),
    onSuccess: ({ message }) => toast.success(message ?? 'Test sent'),
    onError: (error) => toastFailure(error, 'Failed to send the test'),
  })
}

/** Other languages may fall back to the mail that changed. */
function useChangedMail(id: string, locale: string | undefined) {
  const client = useQueryClient()
  return (mail: BuyerMail) => {
    client.removeQueries({ queryKey: mailsKey(id), type: 'inactive' })
    client.setQueryData([...mailsKey(id), locale ?? ''], mail)
  }
}
