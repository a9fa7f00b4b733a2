import { limits } from '@keyward/contract'
import { Popover } from 'radix-ui'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { cx } from './cx.ts'
import { OverlayAnchor } from './overlay-anchor.tsx'
import type { SelectOption } from './select-props.ts'

const debounceMs = 200

export interface SearchPanelProps extends ChoicesProps {
  anchor: HTMLElement
  onClose: () => void
}

/** The open list of a Select with more options than it can list: typing searches them. */
export function SearchPanel({ anchor, onClose, ...choices }: SearchPanelProps) {
  const pressedOutside = useRef(false)
  return (
    <Popover.Root open onOpenChange={(open) => !open && onClose()}>
      <Popover.Trigger asChild>
        <OverlayAnchor element={anchor} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          onInteractOutside={() => {
            pressedOutside.current = true
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (!pressedOutside.current) anchor.focus()
          }}
          className="z-60 w-72 min-w-(--radix-popover-trigger-width) max-w-[calc(100vw-1rem)] animate-pop overflow-hidden rounded-[0.625rem] border bg-raised shadow-pop outline-none"
        >
          <Choices {...choices} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

interface ChoicesProps {
  options: SelectOption[]
  find: (text: string) => Promise<SelectOption[]>
  label: string
  value: string | undefined
  onPick: (option: SelectOption) => void
}

function Choices({ options, find, label, value, onPick }: ChoicesProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  // Where nothing but the unset option is known, the search lists all before somebody types.
  const searches = text.trim() !== '' || options.length < 2
  const { found, failed } = useFound(searches ? text.trim() : undefined, find)
  const shown = text.trim() === '' ? [...options, ...(found ?? [])] : (found ?? [])
  const current = shown[Math.min(active, shown.length - 1)]
  const optionId = (option: SelectOption) => `${id}-${option.value}`

  // biome-ignore lint/correctness/useExhaustiveDependencies: another option is what is scrolled to
  useEffect(() => {
    if (current) document.getElementById(optionId(current))?.scrollIntoView({ block: 'nearest' })
  }, [current])

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing || shown.length === 0) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setActive((at) => (Math.min(at, shown.length - 1) + step + shown.length) % shown.length)
    else if (event.key === 'Enter' && current) onPick(current)
    else return
    event.preventDefault()
  }

  const status = failed
    ? 'The search failed. Type again to retry.'
    : searches && !found
      ? 'Searching…'
      : shown.length === 0
        ? `Nothing matches “${text.trim()}”.`
        : undefined
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label={`Search: ${label}`}
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={current && optionId(current)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="Type to search"
        maxLength={limits.searchMax}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
        className="h-10 w-full border-b bg-transparent px-3 text-base outline-none placeholder:text-fg-faint md:text-sm"
      />
      <div id={id} role="listbox" aria-label={label} className="max-h-64 overflow-y-auto p-1">
        {shown.map((option, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={option.value}
            id={optionId(option)}
            role="option"
            tabIndex={-1}
            aria-selected={option.value === value}
            title={option.label}
            onPointerMove={() => setActive(at)}
            onClick={() => onPick(option)}
            className={cx(
              'cursor-default truncate rounded-md px-2.5 py-1.5',
              option === current && 'bg-hover',
              option.value === value && 'font-medium text-accent-text',
            )}
          >
            {option.label}
          </div>
        ))}
      </div>
      <p role="status" className={cx('px-3 pb-3 text-[0.8125rem] text-fg-muted', !status && 'sr-only')}>
        {status ?? `${shown.length} ${shown.length === 1 ? 'option' : 'options'}`}
      </p>
    </>
  )
}

/** The debounced search result; undefined while searching. */
function useFound(text: string | undefined, find: (text: string) => Promise<SelectOption[]>) {
  const [result, setResult] = useState<{ text: string | undefined; found?: SelectOption[] }>()
  useEffect(() => {
    if (text === undefined) return
    let cancelled = false
    const timer = setTimeout(() => {
      find(text).then(
        (found) => !cancelled && setResult({ text, found }),
        () => !cancelled && setResult({ text }),
      )
    }, debounceMs)
    return () => {
      cancelled = true
      clearTimeout(timer)
    }
  }, [text, find])
  const latest = text !== undefined && result?.text === text ? result : undefined
  return { found: latest?.found, failed: latest !== undefined && latest.found === undefined }
}
