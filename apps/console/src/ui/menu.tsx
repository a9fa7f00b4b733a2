import { MoreHorizontal } from 'lucide-react'
import { Slot } from 'radix-ui'
import { type KeyboardEvent, type PointerEvent, type ReactNode, use, useId, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { MenuParts } from './menu-parts.ts'
import { preloadOverlays, useOverlays } from './overlays.ts'

export interface MenuProps {
  /** The button that opens the menu; three dots by default. */
  trigger?: ReactNode
  /** Name of the three-dots button, for example 'Actions for Acme'. */
  label?: string
  align?: 'start' | 'end'
  side?: 'top' | 'bottom'
  /** Whether some items have a letter. */
  letters?: boolean
  children: ReactNode
}

export function Menu(props: MenuProps) {
  const { trigger, label = 'Actions', align = 'end', side = 'bottom', letters, children } = props
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [opened, setOpened] = useState<'pointer' | 'keyboard'>()
  const close = () => setOpened(undefined)
  const panels = useOverlays(opened !== undefined, close, button)

  function onPointerDown(event: PointerEvent) {
    if (button.current?.disabled || event.button !== 0 || event.ctrlKey) return
    if (opened) close()
    else {
      setOpened('pointer')
      // The default action would move the focus from the menu to the button.
      event.preventDefault()
    }
  }
  function onKeyDown(event: KeyboardEvent) {
    // The panel has the focus as soon as it is open; until then the button gets the keys.
    if (event.key === 'Escape') close()
    if (!['Enter', ' ', 'ArrowDown'].includes(event.key)) return
    event.preventDefault()
    setOpened('keyboard')
  }

  return (
    <>
      <Slot.Root
        ref={button}
        id={id}
        aria-haspopup="menu"
        data-letters={letters}
        aria-expanded={panels !== undefined}
        onPointerEnter={preloadOverlays}
        onFocus={preloadOverlays}
        onPointerDown={onPointerDown}
        onKeyDown={onKeyDown}
      >
        {trigger ?? (
          <IconButton
            label={label}
            // A finger needs 44 px, but the row should not grow.
            className="max-md:relative max-md:after:absolute max-md:after:-inset-1.5"
          >
            <MoreHorizontal />
          </IconButton>
        )}
      </Slot.Root>
      {panels && button.current && (
        <panels.MenuPanel
          anchor={button.current}
          align={align}
          side={side}
          byKeyboard={opened === 'keyboard'}
          onClose={close}
        >
          {children}
        </panels.MenuPanel>
      )}
    </>
  )
}

export interface MenuItemProps {
  icon?: ReactNode
  tone?: 'default' | 'danger'
  disabled?: boolean
  /** Takes the item while its row has the focus. */
  letter?: 'e' | 'b' | 'y'
  /** Renders the only child (a link) as the item. */
  asChild?: boolean
  onSelect?: () => void
  children: ReactNode
}

export function MenuItem({ icon, tone = 'default', letter, children, ...item }: MenuItemProps) {
  const parts = use(MenuParts)
  if (!parts) return null
  return (
    <parts.Item
      {...item}
      data-letter={letter}
      className={cx(
        'flex w-full cursor-default select-none items-center gap-2.5 rounded-md px-2.5 py-3 outline-none md:py-1.5 [&_svg]:size-4 [&_svg]:shrink-0',
        'data-[disabled]:opacity-50',
        tone === 'danger'
          ? 'text-danger-text data-[highlighted]:bg-danger-soft'
          : 'data-[highlighted]:bg-hover [&_svg]:text-fg-muted',
      )}
    >
      {item.asChild ? (
        children
      ) : (
        <>
          {icon}
          {children}
        </>
      )}
    </parts.Item>
  )
}

export function MenuSeparator() {
  const parts = use(MenuParts)
  return parts && <parts.Separator className="-mx-1 my-1 h-px bg-line" />
}
