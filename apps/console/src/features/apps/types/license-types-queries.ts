import type { BodyInputOf, endpoints, LicenseType } from '@keyward/contract'
import { call } from '../../../lib/api/call.ts'
import { wire } from '../../../lib/api/wire.ts'
import { useWrite } from '../../../lib/api/write.ts'
import { amountOf } from '../../../lib/format/words.ts'
import { toastFailure } from '../../../ui/failure-toast.tsx'
import { toast } from '../../../ui/toast.tsx'
import type { TypeLinks } from './type-links-form.ts'

export { useLicenseTypes } from '../../../lib/api/license-types.ts'

export type TypeBody = BodyInputOf<typeof endpoints.licenseTypes.create>

interface TypeEdit {
  /** The type as the form showed it; undefined for a new one. */
  opened?: LicenseType
  body: TypeBody
  applyTo: 'new' | 'all'
}

/** What the form showed of the values that it sends. */
const toSeen = (opened: LicenseType, body: TypeBody) =>
  Object.fromEntries(Object.keys(body).map((name) => [name, opened[name as keyof TypeBody]]))

/** Creates a type, or changes the one that the form opened. */
export function useSaveLicenseType(app: string) {
  return useWrite({
    mutationFn: async ({ opened, body, applyTo }: TypeEdit) => {
      if (opened) {
        const params = { id: opened._id }
        return call(wire.licenseTypes.update, {
          params,
          body: { ...body, applyTo, seen: toSeen(opened, body) },
        })
      }
      const made = await call(wire.licenseTypes.create, { params: { id: app }, body })
      return { ...made, changedLicenses: 0 }
    },
    onSuccess: ({ changedLicenses }, { opened, applyTo }) =>
      toast.success(opened === undefined ? 'License type created' : 'License type changed', {
        description:
          applyTo === 'all' && opened !== undefined
            ? `${amountOf(changedLicenses, 'sold license')} changed too.`
            : 'It applies to licenses that you generate from now on.',
      }),
    onError: (error) => toastFailure(error, 'Failed to save the license type'),
  })
}

/** Changes the links of the type that the form opened. */
export function useSaveTypeLinks() {
  return useWrite({
    mutationFn: ({ opened, links }: { opened: LicenseType; links: TypeLinks }) => {
      const { renewUrl, buyUrl, upgrades, fallbackAfterMonths } = opened
      const seen = { renewUrl, buyUrl, upgrades, fallbackAfterMonths }
      return call(wire.licenseTypes.update, { params: { id: opened._id }, body: { ...links, seen } })
    },
    onSuccess: () => toast.success('Links saved', { description: 'They apply to sold licenses at once.' }),
    onError: (error) => toastFailure(error, 'Failed to save the links'),
  })
}

export function useDeleteLicenseType() {
  return useWrite({
    mutationFn: (id: string) => call(wire.licenseTypes.remove, { params: { id } }),
    onSuccess: () => toast.success('License type deleted'),
    onError: (error) => toastFailure(error, 'Failed to delete the license type'),
  })
}
