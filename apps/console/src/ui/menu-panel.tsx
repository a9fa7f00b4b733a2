import { DropdownMenu } from 'radix-ui'
import { type FocusEvent, type ReactNode, useRef } from 'react'
import { MenuParts } from './menu-parts.ts'
import { OverlayAnchor } from './overlay-anchor.tsx'

export interface MenuPanelProps {
  anchor: HTMLElement
  align: 'start' | 'end'
  side: 'top' | 'bottom'
  /** Opened by a key: the first item gets the focus. */
  byKeyboard: boolean
  onClose: () => void
  children: ReactNode
}

/** An open menu below a button. */
export function MenuPanel({ anchor, align, side, byKeyboard, onClose, children }: MenuPanelProps) {
  // Radix does so itself only for keys pressed after it was mounted.
  function focusFirst(event: FocusEvent<HTMLElement>) {
    if (!byKeyboard || event.target !== event.currentTarget) return
    event.currentTarget.querySelector<HTMLElement>('[role^=menuitem]:not([data-disabled])')?.focus()
  }
  const pressedOutside = useRef(false)
  function close() {
    // At once: a dialog that the menu opens returns the focus to what has it then.
    if (!pressedOutside.current) anchor.focus()
    onClose()
  }
  return (
    <DropdownMenu.Root modal={false} open onOpenChange={(open) => !open && close()}>
      <DropdownMenu.Trigger asChild>
        <OverlayAnchor element={anchor} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          aria-labelledby={anchor.id}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onFocus={focusFirst}
          onInteractOutside={() => {
            pressedOutside.current = true
          }}
          onCloseAutoFocus={(event) => event.preventDefault()}
          className="z-60 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 animate-pop overflow-y-auto rounded-[0.625rem] border bg-raised p-1 shadow-pop outline-none"
        >
          <MenuParts value={DropdownMenu}>{children}</MenuParts>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
