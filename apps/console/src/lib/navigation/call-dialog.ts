import { type Doing, useMay } from '../api/rights.tsx'
import { useDialogParam } from './url-state.ts'

/** The calls that each dialog of a page makes. */
export type DialogCalls<Kind extends string = string> = Readonly<Record<Kind, readonly Doing[]>>

/** Dialogs in the URL. One whose calls the signed-in person may not make stays closed; `may` says so for its button. */
export function useCallDialog<Kind extends string>(calls: DialogCalls<Kind>) {
  const may = useMay()
  const mayOpen = (kind: Kind) => may(...calls[kind])
  const dialog = useDialogParam((Object.keys(calls) as Kind[]).filter(mayOpen))
  return { ...dialog, may: mayOpen }
}
