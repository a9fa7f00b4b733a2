import { Tooltip } from 'radix-ui'
import type { ReactNode } from 'react'
import { OverlayAnchor } from './overlay-anchor.tsx'

export interface TooltipPanelProps {
  anchor: HTMLElement
  content: ReactNode
  side: 'top' | 'right' | 'bottom' | 'left'
  onClose: () => void
}

/** A tooltip that is shown until the pointer leaves it and its trigger. */
export function TooltipPanel({ anchor, content, side, onClose }: TooltipPanelProps) {
  return (
    <Tooltip.Provider>
      <Tooltip.Root open onOpenChange={(open) => !open && onClose()}>
        <Tooltip.Trigger asChild>
          <OverlayAnchor element={anchor} />
        </Tooltip.Trigger>
        <Tooltip.Portal>
          <Tooltip.Content
            side={side}
            sideOffset={6}
            collisionPadding={8}
            className="z-70 max-w-64 animate-pop rounded-md bg-fg px-2.5 py-1.5 text-page text-xs shadow-pop"
          >
            {content}
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </Tooltip.Provider>
  )
}
