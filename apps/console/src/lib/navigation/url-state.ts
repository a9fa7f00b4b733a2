import { useCallback } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'

/** State in the search parameters of the URL. Setting a value to undefined or '' removes it. */
export function useUrlState<Name extends string>(...names: Name[]) {
  const [search] = useSearchParams()
  const { pathname, state } = useLocation()
  const navigate = useNavigate()
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? undefined])) as Record<
    Name,
    string | undefined
  >
  const set = useCallback(
    (changes: Partial<Record<Name, string | number | undefined>>, options: { replace?: boolean } = {}) => {
      // React renders a navigation later. Until then only the browser knows what the last one changed, and a change on a
      // page that is being left would return to it.
      if (window.location.pathname !== pathname) return
      const next = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === '') next.delete(name)
        else next.set(name, String(value))
      }
      navigate(`?${next}`, { replace: options.replace ?? true, state })
    },
    [navigate, pathname, state],
  )
  return [values, set] as const
}

/**
 * The open dialog and its object: `?dialog=edit-app&id=app_…`. Opening one adds to the browser's history, so
 * that Back closes it. A reload keeps it open, unless the dialog creates something: see reload.ts.
 */
export function useDialogParam<Kind extends string>(kinds: readonly Kind[]) {
  const [{ dialog, id }, set] = useUrlState('dialog', 'id')
  const kind = kinds.find((candidate) => candidate === dialog)
  const open = useCallback(
    (next: Kind, about?: string, options = { replace: false }) => set({ dialog: next, id: about }, options),
    [set],
  )
  const close = useCallback(() => set({ dialog: undefined, id: undefined }), [set])
  return { kind, id, open, close }
}
