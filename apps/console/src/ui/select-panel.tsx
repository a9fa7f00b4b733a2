import { Check } from 'lucide-react'
import { Select } from 'radix-ui'
import { OverlayAnchor } from './overlay-anchor.tsx'
import type { SelectOption } from './select-props.ts'

export interface SelectPanelProps {
  anchor: HTMLElement
  value: string | undefined
  options: SelectOption[]
  onPick: (value: string) => void
  onClose: () => void
}

/** The open list of a Select. */
export function SelectPanel({ anchor, value, options, onPick, onClose }: SelectPanelProps) {
  return (
    <Select.Root open onOpenChange={(open) => !open && onClose()} value={value ?? ''} onValueChange={onPick}>
      <Select.Trigger asChild>
        <OverlayAnchor element={anchor} />
      </Select.Trigger>
      <Select.Portal>
        <Select.Content
          position="popper"
          sideOffset={4}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            anchor.focus({ preventScroll: true })
          }}
          className="z-60 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) max-w-[calc(100vw-1rem)] animate-pop overflow-hidden rounded-[0.625rem] border bg-raised shadow-pop"
        >
          <Select.Viewport className="max-h-72 p-1">
            {options.map((option) => (
              <Select.Item
                key={option.value}
                value={option.value}
                disabled={option.disabled}
                className="flex cursor-default select-none items-center justify-between gap-4 rounded-md px-2.5 py-1.5 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover"
              >
                <Select.ItemText>{option.label}</Select.ItemText>
                <Select.ItemIndicator>
                  <Check className="size-4 text-accent-text" />
                </Select.ItemIndicator>
              </Select.Item>
            ))}
          </Select.Viewport>
        </Select.Content>
      </Select.Portal>
    </Select.Root>
  )
}
