import type {
  AddedRights,
  BodyInputOf,
  Client,
  endpoints,
  Grant,
  OwnersDevice,
  QueryInputOf,
  UndoRow,
} from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { formatDate } from '../../lib/format/dates.ts'
import { knownName } from '../../lib/format/end-user-name.ts'
import { offlineSentence } from '../../lib/format/offline.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoOption } from '../../ui/undo.ts'

export type EndUserQuery = QueryInputOf<typeof endpoints.clients.list>

export function useEndUsers(query: EndUserQuery, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.clients, query],
    meta: { failure: 'Failed to load users' },
    queryFn: ({ signal }) => call(wire.clients.list, { query, signal }),
    enabled,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
}

/** An end user; what it was granted loads with its page. */
export type GrantedUser = Client & {
  knownAs?: string | null | undefined
  grants?: Grant[]
  rights?: AddedRights[]
}

/** The end user that a sentence begins with. */
export const inSentence = (user: GrantedUser | undefined): string =>
  (user && knownName(user)) ?? 'The end user'

export function useEndUser(id: string) {
  const client = useQueryClient()
  return useQuery({
    queryKey: [...keys.clients, 'one', id],
    meta: { failure: 'Failed to load the end user' },
    queryFn: async ({ signal }): Promise<GrantedUser> =>
      (await call(wire.clients.get, { params: { id }, signal })).client,
    staleTime: 5_000,
    placeholderData: () =>
      client
        .getQueriesData<{ clients?: Client[] }>({ queryKey: keys.clients })
        .flatMap(([, data]) => data?.clients ?? [])
        .find((user) => user._id === id),
  })
}

/** The devices of an end user, the one seen last first. */
export function useDevices(id: string) {
  return useQuery({
    queryKey: [...keys.clients, 'devices', id],
    meta: { failure: 'Failed to load devices' },
    queryFn: ({ signal }) => call(wire.clients.devices, { params: { id }, signal }),
  })
}

export function useFreeDevice(user: string) {
  return useWrite({
    mutationFn: ({ _id: deviceId }: OwnersDevice) =>
      call(wire.clients.freeDevice, { params: { id: user, deviceId } }),
    onSuccess: (_, { offline }) => {
      const old =
        offline && `The old one can run offline${offline.until ? ` until ${formatDate(offline.until)}` : ''}.`
      const texts = ['Another device can take its place.', old]
      toast.success('Device Freed', { description: texts.filter(Boolean).join(' ') })
    },
    onError: (error) => toastFailed('Free Failed', error, 'Failed to free the device.'),
  })
}

export function useSetPaused() {
  return useWrite({
    mutationFn: ({ user, paused }: { user: GrantedUser; paused: boolean }) =>
      call(wire.clients.togglePause, { params: { id: user._id }, body: { paused } }),
    onSuccess: (answer, { user, paused }) => {
      const kept = `${inSentence(user)} keeps the remaining time until you resume it.`
      const texts = [kept, offlineSentence([{ ...user, ...answer.client }])]
      toast.success(paused ? 'Subscription Paused' : 'Subscription Resumed', {
        description: paused ? texts.filter(Boolean).join(' ') : `${inSentence(user)} can sign in again.`,
      })
    },
    onError: (error, { paused }) =>
      toastFailed(
        paused ? 'Pause Failed' : 'Resume Failed',
        error,
        `Failed to ${paused ? 'pause' : 'resume'} the subscription.`,
      ),
  })
}

export function useCreateEndUser() {
  return useWrite({
    mutationFn: async (body: BodyInputOf<typeof endpoints.clients.createDirect>) =>
      (await call(wire.clients.createDirect, { body })).client,
    onSuccess: ({ username }) =>
      toast.success('User Created', { description: `${username} can now sign in.` }),
    onError: (error) => toastFailed('Creation Failed', error, 'Failed to create end user.'),
  })
}

export interface BanDetails {
  reason?: string
  blockDevices?: boolean
}

export function useSetBan() {
  return useWrite({
    mutationFn: ({ user, ban, ...more }: { user: GrantedUser; ban: boolean } & BanDetails) =>
      call(wire.clients.toggleBan, { params: { id: user._id }, body: { is_banned: ban, ...more } }),
    onSuccess: ({ client: banned }, { user, ban, reason, blockDevices }) => {
      const refused = [
        `${inSentence(user)} can no longer sign in.`,
        offlineSentence([{ ...user, ...banned }]),
      ]
      toast.success(ban ? 'User Banned' : 'User Unbanned', {
        description: ban ? refused.filter(Boolean).join(' ') : `${inSentence(user)} can sign in again.`,
        // Blocked devices stay blocked, so an undo would not restore everything.
        ...(!blockDevices && undoEndUsers([banUndo(user, ban, reason)])),
      })
    },
    onError: (error, { ban }) =>
      toastFailed(
        ban ? 'Ban Failed' : 'Unban Failed',
        error,
        ban ? 'Failed to ban user.' : 'Failed to unban user.',
      ),
  })
}

export function useResetHwid(done = 'HWID Reset') {
  return useWrite({
    mutationFn: async (id: string) => (await call(wire.clients.resetHwid, { params: { id } })).client,
    onSuccess: (user) => {
      const texts = [`${inSentence(user)} can sign in from a different device.`, offlineSentence([user])]
      toast.success(done, { description: texts.filter(Boolean).join(' ') })
    },
    onError: (error) => toastFailed('Reset Failed', error, 'Failed to reset HWID.'),
  })
}

/** What undoes the ban of an end user, or its lifting. */
const banUndo = ({ _id, ban, banReason }: Client, after: boolean, reason = ''): UndoRow => ({
  _id,
  ban: {
    before: { banned: ban, reason: banReason },
    after: { banned: after, reason: (after && reason.trim()) || null },
  },
})

/** The Undo button of a toast about end users that changed. */
export const undoEndUsers = (rows: readonly UndoRow[]) =>
  undoOption({
    rows,
    restore: (undo) => call(wire.bulk.undoClients, { body: { undo } }),
    noun: 'end user',
  })

export function useDeleteEndUser() {
  return useWrite({
    mutationFn: (user: Client) => call(wire.clients.remove, { params: { id: user._id } }),
    onSuccess: (_, user) =>
      toast.success('User Deleted', { description: `${inSentence(user)} has been permanently deleted.` }),
    onError: (error) => toastFailed('Delete Failed', error, 'Failed to delete user.'),
  })
}
