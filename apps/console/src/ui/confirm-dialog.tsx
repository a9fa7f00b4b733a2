import { AlertDialog } from 'radix-ui'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import {
  Dialog,
  DialogBody,
  DialogFooter,
  DialogForm,
  type DialogProps,
  panelClass,
  scrimClass,
} from './dialog.tsx'
import { Field } from './field.tsx'
import { ExactInput } from './input.tsx'
import { useReturnFocus } from './use-return-focus.ts'

export interface ConfirmDialogProps {
  title: ReactNode
  description?: ReactNode
  /** One sentence on what is lost. */
  loss?: ReactNode
  /** Enables the confirm button only after the user typed exactly this text. */
  typed?: string | undefined
  /** An additional required field; `complete` says whether it is filled in. */
  field?: ReactNode
  complete?: boolean
  confirmLabel: string
  cancelLabel?: string
  tone?: 'danger' | 'neutral'
  busy?: boolean
  onConfirm: () => void
  onClose: () => void
  children?: ReactNode
}

/** Open while it is rendered. */
export function ConfirmDialog({
  title,
  description,
  loss,
  typed,
  field,
  complete = true,
  confirmLabel,
  cancelLabel = 'Cancel',
  tone = 'danger',
  busy = false,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const focus = useReturnFocus()
  const [text, setText] = useState('')
  const ready = complete && (typed === undefined || text === typed)

  function submit(event: FormEvent) {
    event.preventDefault()
    // Events of a portal bubble through React components: do not submit a form around this dialog.
    event.stopPropagation()
    if (ready && !busy) onConfirm()
  }

  return (
    <AlertDialog.Root open onOpenChange={() => !busy && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={scrimClass} />
        <AlertDialog.Content
          className={cx(panelClass, 'md:max-w-md')}
          onOpenAutoFocus={focus.remember}
          onCloseAutoFocus={focus.restore}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <DialogForm onSubmit={submit}>
            <DialogBody className="gap-3 pt-5">
              <AlertDialog.Title className="wrap-anywhere font-semibold text-base">{title}</AlertDialog.Title>
              {description && (
                <AlertDialog.Description asChild>
                  <div className="break-words text-fg-muted">{description}</div>
                </AlertDialog.Description>
              )}
              {children}
              {loss && (
                <p
                  className={cx(
                    'rounded-lg border px-3 py-2.5',
                    tone === 'danger'
                      ? 'border-danger-line bg-danger-soft text-danger-text'
                      : 'border-warning-line bg-warning-soft text-warning-text',
                  )}
                >
                  {loss}
                </p>
              )}
              {typed !== undefined && (
                <Field
                  label={
                    <>
                      Type <span className="select-all break-all font-mono">{typed}</span> to confirm
                    </>
                  }
                >
                  <ExactInput value={text} onChange={(event) => setText(event.target.value)} />
                </Field>
              )}
              {field}
            </DialogBody>
            <DialogFooter>
              <AlertDialog.Cancel asChild>
                <Button disabled={busy}>{cancelLabel}</Button>
              </AlertDialog.Cancel>
              <Button
                type="submit"
                variant={tone === 'danger' ? 'danger' : 'primary'}
                disabled={!ready}
                loading={busy}
              >
                {confirmLabel}
              </Button>
            </DialogFooter>
          </DialogForm>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

/** A dialog with something that is shown once, which asks before it is closed otherwise than by its buttons. */
export function OnceDialog({
  question,
  ...props
}: DialogProps & { question: [title: string, description: string] | undefined }) {
  const [closing, setClosing] = useState(false)
  if (!closing || !question)
    return <Dialog {...props} onClose={question ? () => setClosing(true) : props.onClose} />
  return (
    <ConfirmDialog
      title={question[0]}
      description={question[1]}
      tone="neutral"
      confirmLabel="Close"
      cancelLabel="Back"
      onConfirm={props.onClose}
      onClose={() => setClosing(false)}
    />
  )
}
