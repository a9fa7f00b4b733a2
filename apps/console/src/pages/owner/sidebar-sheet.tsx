import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { keepOpenForToasts } from '../../ui/dialog.tsx'
import { useReturnFocus } from '../../ui/use-return-focus.ts'

/** The sidebar on a phone. */
export function SidebarSheet({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const focus = useReturnFocus()
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-fade bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          onInteractOutside={keepOpenForToasts}
          onOpenAutoFocus={focus.remember}
          onCloseAutoFocus={focus.restore}
          className="fixed inset-y-0 left-0 z-50 flex w-[18rem] max-w-[calc(100vw-3rem)] animate-slide flex-col border-r bg-page pb-[env(safe-area-inset-bottom)] shadow-pop outline-none"
        >
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
