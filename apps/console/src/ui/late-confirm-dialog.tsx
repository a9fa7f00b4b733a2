import type { ConfirmDialogProps } from './confirm-dialog.tsx'
import { useOverlays } from './overlays.ts'

/** A ConfirmDialog of a page; parts that load when they open render the dialog itself. */
export function LateConfirmDialog(props: ConfirmDialogProps) {
  const panels = useOverlays(true, props.onClose)
  return panels && <panels.ConfirmDialog {...props} />
}
