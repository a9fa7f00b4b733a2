import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import { cx } from './cx.ts'

export interface TabsProps {
  value: string
  onChange: (value: string) => void
  tabs: { value: string; label: ReactNode; content: ReactNode }[]
  label: string
  /** 'line' under a dialog's title, 'page' under a page's, which scrolls on phones, 'pill' for a few equal choices, 'parts' for those of a tab. */
  variant?: 'line' | 'page' | 'pill' | 'parts'
  className?: string
}

/** A tab is shown as soon as it has the focus, which the arrow keys move. */
export function Tabs({ value, onChange, tabs, label, variant = 'line', className }: TabsProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to each tab that is shown
  useEffect(() => {
    const [strip, tab] = [list.current, list.current?.querySelector('[aria-selected=true]')]
    if (!strip || !tab) return
    const [around, inside] = [strip.getBoundingClientRect(), tab.getBoundingClientRect()]
    strip.scrollLeft += (inside.left + inside.right - around.left - around.right) / 2
  }, [value])

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return
    const buttons = [...event.currentTarget.querySelectorAll('button')]
    const at = buttons.indexOf(event.target as HTMLButtonElement)
    const [first, last] = [0, buttons.length - 1]
    const moves = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: first,
      PageUp: first,
      End: last,
      PageDown: last,
    }
    const to = moves[event.key as keyof typeof moves]
    if (to === undefined) return
    event.preventDefault()
    buttons.at(to % buttons.length)?.focus()
  }

  return (
    <div className={className}>
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        onKeyDown={onKeyDown}
        className={
          variant === 'line'
            ? 'flex gap-5 border-b px-5'
            : variant === 'page'
              ? 'scrollbar-none flex gap-5 overflow-x-auto border-b max-md:mask-r-from-90% max-md:pe-8'
              : cx('flex gap-1 rounded-lg bg-sunken p-1', variant === 'parts' && 'w-fit max-w-full')
        }
      >
        {tabs.map((tab, at) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}-tab-${at}`}
            aria-controls={`${id}-panel-${at}`}
            aria-selected={tab.value === value}
            tabIndex={tab.value === value ? 0 : -1}
            // Only the first button of the mouse gives a tab the focus.
            onMouseDown={(event) => event.button !== 0 && event.preventDefault()}
            onFocus={() => tab.value !== value && onChange(tab.value)}
            onClick={() => tab.value !== value && onChange(tab.value)}
            className={cx(
              // A hidden text in a tab must not widen the page beyond the row, which scrolls.
              'relative font-medium text-fg-muted transition-colors hover:text-fg aria-selected:text-fg',
              variant === 'line' || variant === 'page'
                ? '-mb-px rounded-t px-0.5 border-transparent border-b-2 py-2.5 aria-selected:border-accent'
                : 'h-8 flex-1 rounded-md aria-selected:bg-surface aria-selected:shadow-soft dark:aria-selected:bg-hover',
              variant === 'parts' && 'whitespace-nowrap px-3',
            )}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs.map((tab, at) => (
        <div
          key={tab.value}
          role="tabpanel"
          id={`${id}-panel-${at}`}
          aria-labelledby={`${id}-tab-${at}`}
          hidden={tab.value !== value}
          className="rounded-md"
          tabIndex={-1}
        >
          {tab.value === value && tab.content}
        </div>
      ))}
    </div>
  )
}
