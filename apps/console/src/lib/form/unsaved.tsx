import { createContext, type ReactNode, use, useCallback, useEffect, useState } from 'react'

type Report = (place: string, unsaved: boolean) => void

const UnsavedContext = createContext<{ place: string; report: Report }>({ place: '', report: () => {} })

/** The places of a page with unsaved input: keep them mounted. */
export function useUnsavedPlaces() {
  const [places, setPlaces] = useState<readonly string[]>([])
  const report = useCallback<Report>(
    (place, unsaved) =>
      setPlaces((present) => {
        if (present.includes(place) === unsaved) return present
        return unsaved ? [...present, place] : present.filter((one) => one !== place)
      }),
    [],
  )
  return { places, report }
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
  useEffect(() => {
    report(place, unsaved)
    return () => report(place, false)
  }, [place, report, unsaved])
}
