import { createContext, type ReactNode, use, useCallback, useEffect, useId, useState } from 'react'

type Report = (place: string, form: string, unsaved: boolean) => void

const UnsavedContext = createContext<{ place: string; report: Report }>({ place: '', report: () => {} })

/** The places of a page with unsaved input: keep them mounted. */
export function useUnsavedPlaces() {
  const [forms, setForms] = useState<readonly { place: string; form: string }[]>([])
  const report = useCallback<Report>(
    (place, form, unsaved) =>
      setForms((present) => {
        if (!unsaved && !present.some((one) => one.form === form)) return present
        const others = present.filter((one) => one.form !== form)
        return unsaved ? [...others, { place, form }] : others
      }),
    [],
  )
  return { places: forms.map(({ place }) => place), report }
}

export interface UnsavedPlaceProps {
  place: string
  report: Report
  children: ReactNode
}

export function UnsavedPlace({ place, report, children }: UnsavedPlaceProps) {
  return <UnsavedContext value={{ place, report }}>{children}</UnsavedContext>
}

/** Reports to the page whether this form has unsaved input. */
export function useUnsaved(unsaved: boolean): void {
  const { place, report } = use(UnsavedContext)
  const form = useId()
  useEffect(() => {
    report(place, form, unsaved)
    return () => report(place, form, false)
  }, [place, form, report, unsaved])
}
