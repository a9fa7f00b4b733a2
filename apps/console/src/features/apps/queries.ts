import type { App, BodyInputOf, DataOf, endpoints } from '@keyward/contract'
import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import type { AppPage } from '../../lib/api/apps.ts'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { ownerSession, useToken } from '../../lib/api/session.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { forgetBelow } from '../../lib/form/unsaved.ts'
import type { KeyedBody } from '../../lib/form/use-request.ts'
import { appPath } from '../../lib/navigation/paths.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoButton } from '../../ui/undo.ts'
import { useSwitches } from '../../ui/use-switches.ts'

export { useAppCount, useApps } from '../../lib/api/apps.ts'

/** A page of the apps that match the search, newest first. */
export function useAppPage({ page, search }: { page: number; search: string | undefined }) {
  const token = useToken(ownerSession)
  const first = page === 1 && !search
  return useQuery({
    queryKey: first ? keys.apps : [...keys.apps, { page, search }],
    meta: { failure: 'Failed to fetch apps' },
    queryFn: ({ signal }) => call(wire.apps.list, first ? { signal } : { query: { page, search }, signal }),
    enabled: token !== null,
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
}

export function useApp(id: string) {
  const client = useQueryClient()
  return useQuery({
    queryKey: [...keys.app, id],
    meta: { failure: 'Failed to load the app' },
    queryFn: async ({ signal }) => (await call(wire.apps.get, { params: { id }, signal })).app,
    placeholderData: () =>
      client.getQueryData<AppPage>(keys.apps)?.apps.find((app) => app._id === id || app.appId === id),
  })
}

/** The figures of an app, and the SDKs that its programs name. Kept with the licenses, so that a change of them refreshes it. */
export function useAppStats(id: string) {
  return useQuery({
    queryKey: [...keys.licenses, 'figures', id],
    queryFn: ({ signal }) => call(wire.apps.stats, { params: { id }, query: { banned: 'apart' }, signal }),
    staleTime: 5_000,
  })
}

/** Updates the apps on every cached page. */
function setRows(client: QueryClient, change: (apps: App[]) => App[], added = 0) {
  client.setQueriesData<AppPage>(
    { queryKey: keys.apps },
    (page) => page?.apps && { ...page, apps: change(page.apps), count: page.count + added },
  )
}

function putApp(client: QueryClient, app: App) {
  setRows(client, (apps) => apps.map((present) => (present._id === app._id ? app : present)))
  client.setQueryData<App>([...keys.app, app._id], (present) => present && app)
}

export function useCreateApp() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async (request: KeyedBody<{ name: string }>) => (await call(wire.apps.create, request)).app,
    onSuccess: (app) => {
      client.setQueryData<AppPage>(
        keys.apps,
        (page) => page && { ...page, apps: [app, ...page.apps], count: page.count + 1 },
      )
      toast.success('App created successfully')
    },
    onError: (error) => toastFailure(error, 'Failed to create app'),
  })
}

type AppChanges = BodyInputOf<typeof endpoints.apps.update>

export function useUpdateApp(texts = { done: 'App updated successfully', failed: 'Failed to update app' }) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async ({ id, ...body }: AppChanges & { id: string }) =>
      (await call(wire.apps.update, { params: { id }, body })).app,
    onSuccess: (app) => {
      putApp(client, app)
      toast.success(texts.done)
    },
    onError: (error) => toastFailure(error, texts.failed),
  })
}

type Settings = App['settings']

/** The switches of an app's settings. */
export function useAppSwitches({ _id, settings }: App) {
  const client = useQueryClient()
  const queryKey = [...keys.app, _id]
  const read = () => client.getQueryData<App>(queryKey)
  return useSwitches<Settings>({
    queryKey,
    read: () => read()?.settings ?? settings,
    show: (change) => {
      const app = read()
      if (app) putApp(client, { ...app, settings: { ...app.settings, ...change } })
    },
    send: (change) => call(wire.apps.update, { params: { id: _id }, body: { settings: change } }),
    done: 'App settings updated successfully',
    failed: 'Failed to update app settings',
  })
}

/** Sends a pause or its end. */
function useSendPaused() {
  const client = useQueryClient()
  return async (id: string, paused: boolean) => {
    const { app } = await call(wire.apps.update, { params: { id }, body: { paused } })
    putApp(client, app)
    return app
  }
}

const pauseFailed = (error: unknown) => toastFailure(error, 'Failed to toggle app pause state')

/** Resumes a paused app, and asks before another one is paused. Reads the app first, because the list may be stale. */
export function useTogglePause(onPause: (id: string) => void) {
  const send = useSendPaused()
  return useWrite({
    mutationFn: async (id: string) => {
      const { app } = await call(wire.apps.get, { params: { id } })
      if (app.paused) await send(id, false)
      return app.paused
    },
    onSuccess: (isResumed, id) => {
      if (isResumed) toast.success('App resumed successfully')
      else onPause(id)
    },
    onError: pauseFailed,
  })
}

export function usePause() {
  const send = useSendPaused()
  return useWrite({
    mutationFn: (id: string) => send(id, true),
    onSuccess: ({ _id }) => {
      const undo = () => send(_id, false).then(() => toast.success('Undone'), pauseFailed)
      toast.success('App paused successfully', undoButton(undo))
    },
    onError: pauseFailed,
  })
}

export function useDeletionPreview(id: string) {
  return useQuery({
    queryKey: [...keys.app, id, 'deletion-preview'],
    queryFn: async ({ signal }) =>
      (await call(wire.apps.deletionPreview, { params: { id }, signal })).willDelete,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
}

export function useDeleteApp() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (id: string) => call(wire.apps.remove, { params: { id } }),
    onSuccess: (_, id) => {
      setRows(client, (apps) => apps.filter((app) => app._id !== id), -1)
      forgetBelow(appPath(id))
      toast.success('App and all associated data deleted successfully', {
        description: 'All resellers, licenses, and clients have been removed.',
      })
    },
    onError: (error) => toastFailure(error, 'Failed to delete app'),
  })
}

export function useRotateSecret() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async (id: string) => (await call(wire.apps.rotateSecret, { params: { id } })).app,
    onSuccess: (app) => {
      putApp(client, app)
      toast.success('App secret rotated', { description: 'The old secret has stopped working.' })
    },
    onError: (error) => toastFailure(error, 'Failed to rotate app secret'),
  })
}

export function useSigningKeys(appId: string) {
  return useQuery({
    queryKey: [...keys.app, appId, 'signing-keys'],
    queryFn: async ({ signal }) => {
      const { keys } = await call(wire.program.keys, { params: { appId }, signal })
      // A new version of a program does not pin a retired key.
      return keys.flatMap(({ status, ...key }) => (status === 'retired' ? [] : [key]))
    },
    staleTime: 5 * 60_000,
  })
}

export type ErrorMessages = DataOf<typeof endpoints.apps.getErrorMessages>

const messagesKey = (id: string) => [...keys.app, id, 'error-messages']
const localeQuery = (locale: string | undefined) => (locale === undefined ? {} : { locale })

/** The texts of a language, or the default ones. */
export function useErrorMessages(id: string, locale: string | undefined) {
  return useQuery({
    queryKey: [...messagesKey(id), locale ?? ''],
    queryFn: ({ signal }) =>
      call(wire.apps.getErrorMessages, { params: { id }, query: localeQuery(locale), signal }),
    staleTime: 0,
  })
}

export function useUpdateErrorMessages(id: string, locale: string | undefined) {
  const change = useChangedMessages(id, locale)
  return useWrite({
    mutationFn: (body: BodyInputOf<typeof endpoints.apps.updateErrorMessages>) =>
      call(wire.apps.updateErrorMessages, { params: { id }, query: localeQuery(locale), body }),
    onSuccess: (messages) => {
      change(messages)
      toast.success('Error messages updated successfully')
    },
    onError: (error) => toastFailure(error, 'Failed to update error messages'),
  })
}

export function useResetErrorMessages(id: string, locale: string | undefined) {
  const change = useChangedMessages(id, locale)
  return useWrite({
    mutationFn: () => call(wire.apps.resetErrorMessages, { params: { id }, query: localeQuery(locale) }),
    onSuccess: (messages) => {
      change(messages)
      toast.info('Error messages reset to defaults')
    },
    onError: (error) => toastFailure(error, 'Failed to update error messages'),
  })
}

/** Other languages may fall back to the texts that changed. */
function useChangedMessages(id: string, locale: string | undefined) {
  const client = useQueryClient()
  return (messages: ErrorMessages) => {
    client.removeQueries({ queryKey: messagesKey(id), type: 'inactive' })
    client.setQueryData([...messagesKey(id), locale ?? ''], messages)
  }
}
