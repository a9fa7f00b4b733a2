import { useState } from 'react'

/**
 * The row of the open dialog. It stays while the dialog is open: when the list loads again without it, what the user has
 * typed must not be lost.
 */
export function useChosen<Row extends { _id: string }>(
  rows: readonly Row[] | undefined,
  id: string | undefined,
): Row | undefined {
  const [kept, setKept] = useState<Row>()
  const found = id === undefined ? undefined : rows?.find((row) => row._id === id)
  if (found && found !== kept) setKept(found)
  if (id === undefined && kept) setKept(undefined)
  return found ?? (kept?._id === id ? kept : undefined)
}
