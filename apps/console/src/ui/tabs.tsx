import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './cx.ts'

export interface TabsProps {
  value: string
  onChange: (value: string) => void
  tabs: { value: string; label: ReactNode; content: ReactNode }[]
  label: string
  /** 'line' under a page or dialog title, 'pill' for a few equal choices. */
  variant?: 'line' | 'pill'
  className?: string
}

export function Tabs({ value, onChange, tabs, label, variant = 'line', className }: TabsProps) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className={className}>
      <Radix.List
        aria-label={label}
        className={variant === 'line' ? 'flex gap-5 border-b px-5' : 'flex gap-1 rounded-lg bg-sunken p-1'}
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className={cx(
              'font-medium text-fg-muted transition-colors hover:text-fg data-[state=active]:text-fg',
              variant === 'line'
                ? '-mb-px rounded-t px-0.5 border-transparent border-b-2 py-2.5 data-[state=active]:border-accent'
                : 'h-8 flex-1 rounded-md data-[state=active]:bg-surface data-[state=active]:shadow-soft dark:data-[state=active]:bg-hover',
            )}
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className="rounded-md" tabIndex={-1}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
