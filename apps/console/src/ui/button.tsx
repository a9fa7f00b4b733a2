import { Slot } from 'radix-ui'
import type { ComponentProps } from 'react'
import { cx } from './cx.ts'
import { Spinner } from './spinner.tsx'

// Grey, not pale: a pale red looks broken.
const filled =
  'shadow-soft not-aria-busy:disabled:bg-line not-aria-busy:disabled:text-fg-muted not-aria-busy:disabled:opacity-100'
const variants = {
  primary: `bg-accent text-on-accent hover:bg-accent-hover ${filled}`,
  secondary:
    'border border-control-line bg-control text-fg shadow-soft hover:bg-hover hover:border-line-strong/60',
  ghost: 'text-fg-muted hover:bg-hover hover:text-fg',
  danger: `bg-danger text-white hover:bg-danger-hover ${filled}`,
  dangerQuiet: 'text-fg-muted hover:bg-danger-soft hover:text-danger-text',
  dangerGhost: 'border border-danger-line text-danger-text hover:bg-danger-soft',
  link: 'text-accent-text underline-offset-4 hover:underline',
}
const sizes = {
  sm: 'h-8 gap-1.5 px-3 text-[0.8125rem]',
  md: 'h-9 gap-2 px-3.5 text-sm',
  lg: 'h-11 gap-2 px-5 text-[0.9375rem]',
  icon: 'size-8 justify-center',
}

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: keyof typeof variants
  size?: keyof typeof sizes
  /** Shows a spinner and blocks clicks. */
  loading?: boolean
  /** Styles the only child (for example a link) as a button. */
  asChild?: boolean
}

export function Button({
  variant = 'secondary',
  size = 'md',
  loading = false,
  asChild = false,
  disabled,
  className,
  children,
  type = 'button',
  ...props
}: ButtonProps) {
  const classes = cx(
    'inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap rounded-lg font-medium transition-colors',
    'disabled:pointer-events-none disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
    variants[variant],
    variant === 'link' ? 'h-auto gap-1' : sizes[size],
    className,
  )
  if (asChild) {
    return (
      <Slot.Root className={classes} {...props}>
        {children}
      </Slot.Root>
    )
  }
  return (
    <button
      type={type}
      className={classes}
      disabled={disabled || loading}
      aria-busy={loading || undefined}
      {...props}
    >
      {loading && <Spinner />}
      {children}
    </button>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'size'> {
  /** The accessible name and hover title. */
  label: string
}

export function IconButton({ label, variant = 'ghost', children, ...props }: IconButtonProps) {
  return (
    <Button variant={variant} size="icon" aria-label={label} title={label} {...props}>
      {children}
    </Button>
  )
}
