import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'
import { cx } from './cx.ts'

export interface TabsProps {
  value: string
  onChange: (value: string) => void
  /** One that is `kept` stays mounted while another tab is shown. */
  tabs: { value: string; label: ReactNode; content: ReactNode; kept?: boolean }[]
  label: string
  /** 'line' under a dialog's title, 'page' under a page's, which scrolls on phones, 'pill' for a few equal choices, 'parts' for those of a tab. */
  variant?: 'line' | 'page' | 'pill' | 'parts'
  className?: string
}

export function Tabs({ value, onChange, tabs, label, variant = 'line', className }: TabsProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const [strip, tab] = [list.current, list.current?.querySelector(`[data-value="${value}"]`)]
    if (!strip || !tab) return
    const [around, inside] = [strip.getBoundingClientRect(), tab.getBoundingClientRect()]
    strip.scrollLeft += (inside.left + inside.right - around.left - around.right) / 2
  }, [value])
  return (
    <Radix.Root value={value} onValueChange={onChange} className={className}>
      <Radix.List
        ref={list}
        aria-label={label}
        className={
          variant === 'line'
            ? 'flex gap-5 border-b px-5'
            : variant === 'page'
              ? 'scrollbar-none flex gap-5 overflow-x-auto border-b max-md:mask-r-from-90% max-md:pe-8'
              : cx('flex gap-1 rounded-lg bg-sunken p-1', variant === 'parts' && 'w-fit max-w-full')
        }
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            data-value={tab.value}
            className={cx(
              // A hidden text in a tab must not widen the page beyond the row, which scrolls.
              'relative font-medium text-fg-muted transition-colors hover:text-fg data-[state=active]:text-fg',
              variant === 'line' || variant === 'page'
                ? '-mb-px rounded-t px-0.5 border-transparent border-b-2 py-2.5 data-[state=active]:border-accent'
                : 'h-8 flex-1 rounded-md data-[state=active]:bg-surface data-[state=active]:shadow-soft dark:data-[state=active]:bg-hover',
              variant === 'parts' && 'whitespace-nowrap px-3',
            )}
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.value}
          value={tab.value}
          className="rounded-md data-[state=inactive]:hidden"
          tabIndex={-1}
          {...(tab.kept && { forceMount: true })}
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
