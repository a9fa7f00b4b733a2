import { X } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { IconButton } from './button.tsx'

export interface SelectionBarProps {
  /** For example '3 licenses selected'. */
  text: string
  onClear: () => void
  /** Buttons of size sm. */
  children: ReactNode
  /** What cannot be undone, apart from the other buttons. */
  danger?: ReactNode
}

/** Stays at the bottom of the window while rows are selected. */
export function SelectionBar({ text, onClear, children, danger }: SelectionBarProps) {
  // Scroll focused elements above the bar.
  useEffect(() => {
    const { style } = document.documentElement
    style.scrollPaddingBottom = '8rem'
    return () => {
      style.scrollPaddingBottom = ''
      // The focused button disappears with the bar.
      setTimeout(() => {
        if (document.activeElement === document.body)
          document.getElementById('main')?.focus({ preventScroll: true })
      }, 100)
    }
  }, [])
  return (
    <section
      aria-label="Selected rows"
      className="sticky bottom-(--tab-bar) z-20 -mx-4 mt-4 flex animate-rise flex-wrap items-center gap-x-4 gap-y-2 border-t bg-raised px-4 pt-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] shadow-pop md:bottom-[calc(1rem+var(--tab-bar))] md:mx-auto md:w-fit md:flex-nowrap md:rounded-xl md:border md:py-2 md:pr-2"
    >
      <div className="flex items-center gap-1 max-md:w-full max-md:justify-between">
        <p role="status" className="whitespace-nowrap font-medium tabular-nums">
          {text}
        </p>
        <IconButton label="Clear selection" onClick={onClear}>
          <X />
        </IconButton>
      </div>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
      {danger && <div className="max-md:ml-auto md:ml-6 md:border-l md:pl-4">{danger}</div>}
    </section>
  )
}
