import type { App, Profile } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../../lib/api/call.ts'
import { keys } from '../../../lib/api/query-keys.ts'
import { wire } from '../../../lib/api/wire.ts'
import { useWrite } from '../../../lib/api/write.ts'
import { toastFailure } from '../../../ui/failure-toast.tsx'
import { toast } from '../../../ui/toast.tsx'

/** The profile of an app, or that of the vendor. */
export function useProfile(app?: string) {
  return useQuery({
    queryKey: app === undefined ? keys.profile : [...keys.app, app, 'profile'],
    meta: { failure: 'Failed to load the profile' },
    queryFn: ({ signal }) =>
      app === undefined
        ? call(wire.profiles.get, { signal })
        : call(wire.profiles.getOfApp, { params: { id: app }, signal }),
  })
}

export function useUpdateProfile(app?: string) {
  return useWrite({
    mutationFn: (body: Partial<Profile>) =>
      app === undefined
        ? call(wire.profiles.update, { body })
        : call(wire.profiles.updateOfApp, { params: { id: app }, body }),
    onSuccess: () => toast.success('Profile updated successfully'),
    onError: (error) => toastFailure(error, 'Failed to update the profile'),
  })
}

/** What customers of an app see: its profile, and that of the vendor where it has none. */
export interface Face extends Profile {
  shop: string | null
}

export const faceOf = (app: App, own: Profile | undefined, vendors: Profile | undefined): Face => ({
  name: own?.name ?? vendors?.name ?? null,
  support: own?.support ?? vendors?.support ?? null,
  logo: own?.logo ?? vendors?.logo ?? null,
  shop: app.settings.buyUrl?.replace('{reference}', '') ?? null,
})
