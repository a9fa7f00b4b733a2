import type { ReactNode } from 'react'
import { cx } from './cx.ts'

const tones = {
  neutral: 'border-line bg-sunken text-fg-muted',
  accent: 'border-accent-line bg-accent-soft text-accent-text',
  success: 'border-success-line bg-success-soft text-success-text',
  warning: 'border-warning-line bg-warning-soft text-warning-text',
  danger: 'border-danger-line bg-danger-soft text-danger-text',
}
export type Tone = keyof typeof tones

export interface BadgeProps {
  tone?: Tone
  /** A dot in the badge's colour before the text. */
  dot?: boolean
  children: ReactNode
  className?: string
}

export function Badge({ tone = 'neutral', dot, children, className }: BadgeProps) {
  return (
    <span
      className={cx(
        'inline-flex h-[1.375rem] w-fit items-center gap-1.5 whitespace-nowrap rounded-full border px-2 font-medium text-xs',
        tones[tone],
        className,
      )}
    >
      {dot && <span aria-hidden className="size-1.5 rounded-full bg-current" />}
      {children}
    </span>
  )
}

/** The badge of a state: a dot before what it is called. */
export const StateBadge = ({ label, ...badge }: Omit<BadgeProps, 'children'> & { label: string }) => (
  <Badge dot {...badge}>
    {label}
  </Badge>
)
