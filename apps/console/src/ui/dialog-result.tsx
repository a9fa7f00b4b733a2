import { type ReactNode, useEffect, useRef } from 'react'
import { DialogBody } from './dialog.tsx'

/** What a dialog has made, to be copied: the keyboard goes on at the button that copies all of it. */
export function DialogResult({ children }: { children: ReactNode }) {
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // After the dialog has taken the focus of the form that was here.
    const timer = setTimeout(() => {
      const dialog = body.current?.closest('[role="dialog"]')
      const copy = '[aria-label^="Copy"]'
      const button = dialog?.querySelector(`footer ${copy}`) ?? dialog?.querySelector(copy)
      if (button instanceof HTMLElement) button.focus()
    })
    return () => clearTimeout(timer)
  }, [])
  return (
    <DialogBody ref={body} data-result="">
      {children}
    </DialogBody>
  )
}
