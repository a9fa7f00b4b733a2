import { useCallback } from 'react'
import { useLocation, useSearchParams } from 'react-router'

/** Filters and the page of a list, in the URL. Setting a value to undefined or '' takes it out. */
export function useUrlState<Name extends string>(...names: Name[]) {
  const [search, setSearch] = useSearchParams()
  const { state } = useLocation()
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? undefined])) as Record<
    Name,
    string | undefined
  >
  const set = useCallback(
    (changes: Partial<Record<Name, string | number | undefined>>, options: { replace?: boolean } = {}) =>
      setSearch(
        (present) => {
          const next = new URLSearchParams(present)
          for (const [name, value] of Object.entries(changes)) {
            if (value === undefined || value === '') next.delete(name)
            else next.set(name, String(value))
          }
          return next
        },
        { replace: options.replace ?? true, state },
      ),
    [setSearch, state],
  )
  return [values, set] as const
}

/**
 * The dialog that is open, what it is about and the tab in it: `?dialog=edit-app&id=app_…`. Opening one is a step in the
 * browser's history, so that Back closes it. A reload keeps it open, unless it makes something new: see reload.ts.
 */
export function useDialogParam<Kind extends string>(kinds: readonly Kind[]) {
  const [{ dialog, id }, set] = useUrlState('dialog', 'id', 'tab')
  const kind = kinds.find((candidate) => candidate === dialog)
  const open = useCallback(
    (next: Kind, about?: string, options = { replace: false }) => set({ dialog: next, id: about }, options),
    [set],
  )
  const close = useCallback(() => set({ dialog: undefined, id: undefined, tab: undefined }), [set])
  return { kind, id, open, close }
}
