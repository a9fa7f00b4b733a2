import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'
import { Button, IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { useReturnFocus } from './use-return-focus.ts'

const widths = { sm: 'md:max-w-md', md: 'md:max-w-lg', lg: 'md:max-w-2xl' }

export const scrimClass = 'fixed inset-0 z-40 animate-fade bg-scrim'
/** A sheet at the bottom edge of a phone, a centred panel from 768 px on. */
export const panelClass = cx(
  'fixed inset-x-0 bottom-0 z-50 flex max-h-[92dvh] animate-rise flex-col rounded-t-2xl border bg-raised shadow-pop outline-none',
  'pb-[env(safe-area-inset-bottom)] md:inset-x-4 md:top-[max(2rem,14dvh)] md:bottom-auto md:mx-auto md:max-h-[min(44rem,calc(98dvh-max(2rem,14dvh)))] md:rounded-xl md:pb-0',
)

/** Closing a toast must not close the dialog below it. */
export function keepOpenForToasts(event: Event & { detail?: { originalEvent?: Event } }) {
  const target = event.detail?.originalEvent?.target ?? event.target
  if (target instanceof Element && target.closest('[data-sonner-toaster]')) event.preventDefault()
}

export interface DialogProps {
  title: ReactNode
  description?: ReactNode
  size?: keyof typeof widths
  /** While true, Escape and clicks outside do not close the dialog. */
  busy?: boolean
  onClose: () => void
  children: ReactNode
}

/** Open while it is rendered. */
export function Dialog({ title, description, size = 'md', busy = false, onClose, children }: DialogProps) {
  const focus = useReturnFocus()
  return (
    <Radix.Root open onOpenChange={() => !busy && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={scrimClass} />
        <Radix.Content
          className={cx(panelClass, widths[size])}
          onInteractOutside={keepOpenForToasts}
          onOpenAutoFocus={(event) => {
            focus.remember()
            focusFirstField(event)
          }}
          onCloseAutoFocus={focus.restore}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <header className="pt-5 pr-14 pb-1 pl-5">
            <div className="grid min-w-0 gap-1">
              <Radix.Title className="wrap-anywhere font-semibold text-base">{title}</Radix.Title>
              {description && <Radix.Description className="text-fg-muted">{description}</Radix.Description>}
            </div>
          </header>
          {children}
          {/* Last, so that the first field gets the focus. */}
          <Radix.Close asChild>
            <IconButton label="Close" className="absolute top-3.5 right-3.5">
              <X />
            </IconButton>
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** On phones the on-screen keyboard would cover the dialog, so focus the panel instead. */
function focusFirstField(event: Event) {
  const panel = event.currentTarget as HTMLElement
  if (window.matchMedia('(hover: none)').matches) {
    event.preventDefault()
    panel.focus()
    return
  }
  const field = findFirstField(panel)
  if (!field) return
  event.preventDefault()
  field.focus()
}

const findFirstField = (panel: HTMLElement) =>
  panel.querySelector<HTMLElement>(
    'form :is(input, textarea, [role="combobox"]):not(:disabled, [readonly], [type="file"])',
  )

/** The part that scrolls. */
export function DialogBody({ className, ...props }: ComponentProps<'div'>) {
  return (
    <div
      className={cx(
        'grid min-h-0 flex-1 auto-rows-max grid-cols-[minmax(0,1fr)] gap-4 overflow-y-auto px-5 py-4 -outline-offset-2',
        className,
      )}
      {...props}
    />
  )
}

/** Buttons: stacked on a phone with the main action on top, in a row from 768 px on and on low screens. */
export function DialogFooter({ className, ...props }: ComponentProps<'footer'>) {
  return (
    <footer
      className={cx(
        'flex flex-col-reverse gap-2 border-t px-5 py-4 low:flex-row low:justify-end low:py-2.5 md:flex-row md:justify-end [&>button]:max-md:h-11',
        className,
      )}
      {...props}
    />
  )
}

/** The DialogFooter of what was made or shown; further buttons come first. */
export const DoneFooter = ({ onDone, children }: { onDone: () => void; children?: ReactNode }) => (
  <DialogFooter>
    {children}
    <Button variant="primary" onClick={onDone}>
      Done
    </Button>
  </DialogFooter>
)

/** A form that keeps DialogBody and DialogFooter in the dialog's layout. */
export function DialogForm({ className, ...props }: ComponentProps<'form'>) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const panel = form.current?.closest<HTMLElement>('[role="dialog"]')
    // Close has the focus if the dialog opened before its form was loaded.
    if (
      !panel ||
      document.activeElement?.parentElement !== panel ||
      !window.matchMedia('(hover: hover)').matches
    )
      return
    const control = findFirstField(panel) ?? panel.querySelector<HTMLElement>('form button:not(:disabled)')
    control?.focus()
  }, [])
  return <form ref={form} noValidate className={cx('flex min-h-0 flex-1 flex-col', className)} {...props} />
}
