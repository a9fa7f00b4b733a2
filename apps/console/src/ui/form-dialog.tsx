import type { ComponentProps } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogBody, DialogFooter, DialogForm, type DialogProps } from './dialog.tsx'

export interface FieldsFormProps extends ComponentProps<'form'> {
  submitLabel: string
  busy: boolean
  disabled?: boolean
  onCancel: () => void
}

/** The form of a dialog: its fields, and the buttons that cancel and send it. */
export function FieldsForm({ submitLabel, busy, disabled, onCancel, children, ...form }: FieldsFormProps) {
  return (
    <DialogForm {...form}>
      <DialogBody>{children}</DialogBody>
      <DialogFooter>
        <Button onClick={onCancel} disabled={busy}>
          Cancel
        </Button>
        <Button type="submit" variant="primary" disabled={disabled} loading={busy}>
          {submitLabel}
        </Button>
      </DialogFooter>
    </DialogForm>
  )
}

type FormDialogProps = Omit<DialogProps, 'busy'> & Omit<FieldsFormProps, 'onCancel' | 'title'>

/** A dialog that is one form. */
export function FormDialog({ title, description, size, busy, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog {...{ title, description, size, busy, onClose }}>
      <FieldsForm busy={busy} onCancel={onClose} {...form} />
    </Dialog>
  )
}
