import { type BodyInputOf, type Client, type endpoints, type License, limits } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { formatDate } from '../../lib/format/dates.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { inSentence } from './queries.ts'

/** Changes the name, the address or the end of an end user. */
export function useRepair(done = 'User Updated') {
  return useWrite({
    mutationFn: async ({ id, body }: { id: string; body: BodyInputOf<typeof endpoints.clients.update> }) =>
      (await call(wire.clients.update, { params: { id }, body })).client,
    onSuccess: () => toast.success(done, { description: 'The changes are saved.' }),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to update the user.'),
  })
}

export function useSetPassword() {
  return useWrite({
    mutationFn: ({ user, password }: { user: Client; password: string }) =>
      call(wire.clients.setPassword, { params: { id: user._id }, body: { password } }),
    onSuccess: (_, { user }) =>
      toast.success('Password Set', { description: `${inSentence(user)} signs in with the new password.` }),
    onError: (error) => toastFailed('Update Failed', error, 'Failed to set the password.'),
  })
}

/** Mails a link to choose a password. The dialog shows a failure. */
export function useMailPassword() {
  return useWrite({
    mutationFn: ({ _id }: Client) =>
      call(wire.clients.setPassword, { params: { id: _id }, body: { mail: true } }),
    onSuccess: (_, { username }) =>
      toast.success('Link Mailed', {
        description: `${username} can choose a password with it for ${limits.customerLinkMinutes} minutes.`,
      }),
  })
}

export function useAddLicense() {
  return useWrite({
    mutationFn: ({ user, license }: { user: Client; license: string }) =>
      call(wire.clients.addLicense, { params: { id: user._id }, body: { license } }),
    onSuccess: (_, { user }) =>
      toast.success('License Added', { description: `${inSentence(user)} uses it from now on.` }),
    onError: (error) => toastFailed('Adding Failed', error, 'Failed to add the license.'),
  })
}

const freeOnes = (app: string, search?: string) =>
  call(wire.licenses.list, { query: { app, status: 'unused', search, limit: 50 } })

const toOption = (license: License) => ({
  value: license._id,
  label: [
    keyPrefix(license.key),
    license.type?.name ?? (license.expiresAt === null ? noDateText(license) : formatDate(license.expiresAt)),
    license.note,
  ]
    .filter(Boolean)
    .join(' · '),
})

/** The newest unused licenses of an app. */
export function useFreeLicenses(app: string) {
  return useQuery({
    queryKey: [...keys.licenses, 'free', app],
    meta: { failure: 'Failed to load the licenses' },
    queryFn: async () => {
      const { licenses, pagination } = await freeOnes(app)
      return { options: licenses.map(toOption), total: pagination.total }
    },
  })
}

export const findFreeLicenses = async (app: string, search: string) =>
  (await freeOnes(app, search)).licenses.map(toOption)
