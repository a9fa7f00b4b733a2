import { Check, ChevronDown } from 'lucide-react'
import { Select as Radix } from 'radix-ui'
import { lazy, Suspense } from 'react'
import { cx } from './cx.ts'
import { useFieldControl } from './field.tsx'
import { controlClass } from './input.tsx'
import type { SelectProps } from './select-props.ts'

const SearchSelect = lazy(() => import('./search-select.tsx'))

export function Select(props: SelectProps) {
  const { find } = props
  if (!find) return <PlainSelect {...props} />
  return (
    <Suspense fallback={<PlainSelect {...props} disabled />}>
      <SearchSelect {...props} find={find} />
    </Suspense>
  )
}

function PlainSelect({ value, onChange, options, placeholder, label, disabled, className }: SelectProps) {
  const field = useFieldControl()
  return (
    <Radix.Root value={value ?? ''} onValueChange={onChange} disabled={disabled}>
      <Radix.Trigger
        {...field}
        aria-label={label}
        className={cx(
          controlClass,
          'inline-flex h-9 items-center justify-between gap-2 text-left data-[placeholder]:text-fg-faint',
          className,
        )}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder} />
        </span>
        <Radix.Icon asChild>
          <ChevronDown className="size-4 shrink-0 text-fg-faint" />
        </Radix.Icon>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          className="z-60 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) max-w-[calc(100vw-1rem)] animate-pop overflow-hidden rounded-[0.625rem] border bg-raised shadow-pop"
        >
          <Radix.Viewport className="max-h-72 p-1">
            {options.map((option) => (
              <Radix.Item
                key={option.value}
                value={option.value}
                disabled={option.disabled}
                className="flex cursor-default select-none items-center justify-between gap-4 rounded-md px-2.5 py-1.5 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover"
              >
                <Radix.ItemText>{option.label}</Radix.ItemText>
                <Radix.ItemIndicator>
                  <Check className="size-4 text-accent-text" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
