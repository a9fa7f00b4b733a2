import { MoreHorizontal } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { cx } from './cx.ts'

export interface MenuProps {
  /** The button that opens the menu; three dots by default. */
  trigger?: ReactNode
  /** Name of the three-dots button, for example 'Actions for Acme'. */
  label?: string
  align?: 'start' | 'end'
  side?: 'top' | 'bottom'
  children: ReactNode
}

export function Menu({ trigger, label = 'Actions', align = 'end', side = 'bottom', children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        {trigger ?? (
          <IconButton label={label}>
            <MoreHorizontal />
          </IconButton>
        )}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="z-60 min-w-48 animate-pop rounded-[0.625rem] border bg-raised p-1 shadow-pop outline-none"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

export interface MenuItemProps {
  icon?: ReactNode
  tone?: 'default' | 'danger'
  disabled?: boolean
  /** Renders the only child (a link) as the item. */
  asChild?: boolean
  onSelect?: () => void
  children: ReactNode
}

export function MenuItem({ icon, tone = 'default', disabled, asChild, onSelect, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      asChild={asChild}
      onSelect={onSelect}
      className={cx(
        'flex w-full cursor-default select-none items-center gap-2.5 rounded-md px-2.5 py-2 outline-none md:py-1.5 [&_svg]:size-4 [&_svg]:shrink-0',
        'data-[disabled]:opacity-50',
        tone === 'danger'
          ? 'text-danger-text data-[highlighted]:bg-danger-soft'
          : 'data-[highlighted]:bg-hover [&_svg]:text-fg-muted',
      )}
    >
      {asChild ? (
        children
      ) : (
        <>
          {icon}
          {children}
        </>
      )}
    </DropdownMenu.Item>
  )
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />
}
