import { ChevronDown } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { cx } from './cx.ts'
import { useFieldControl } from './field.tsx'
import { controlClass } from './input.tsx'
import { preloadOverlays, useOverlays } from './overlays.ts'
import type { SelectOption, SelectProps } from './select-props.ts'

const typedWithinMs = 1000

export function Select(props: SelectProps) {
  const { value, onChange, options, placeholder, label, disabled, className, find } = props
  const field = useFieldControl()
  const button = useRef<HTMLButtonElement>(null)
  const pressedBy = useRef('')
  const typed = useRef({ text: '', at: 0 })
  const [opened, setOpened] = useState(false)
  // What a search found is not among the options.
  const [found, setFound] = useState<SelectOption>()
  const close = () => setOpened(false)
  const panels = useOverlays(opened, close, button)
  const chosen = [...options, ...(found ? [found] : [])].find((option) => option.value === value)

  function onPointerDown(event: PointerEvent) {
    pressedBy.current = event.pointerType
    if (event.pointerType !== 'mouse' || event.button !== 0 || event.ctrlKey) return
    // The default action would move the focus from the list to the button.
    event.preventDefault()
    setOpened(!opened)
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    // The list has the focus as soon as it is open; until then the button gets the keys.
    if (event.key === 'Escape') close()
    else if (['Enter', ' ', 'ArrowUp', 'ArrowDown'].includes(event.key)) {
      event.preventDefault()
      setOpened(true)
    } else if (event.key.length === 1 && !find) choose(event)
  }
  /** Typing on the closed list chooses the next option that starts with the text. */
  function choose({ key, timeStamp }: KeyboardEvent) {
    const before = timeStamp - typed.current.at < typedWithinMs ? typed.current.text : ''
    const text = before === key ? key : before + key
    typed.current = { text, at: timeStamp }
    const from = chosen ? options.indexOf(chosen) + (text.length === 1 ? 1 : 0) : 0
    const next = [...options.slice(from), ...options.slice(0, from)].find(
      (option) => !option.disabled && option.label.toLowerCase().startsWith(text.toLowerCase()),
    )
    if (next) onChange(next.value)
  }

  const anchor = button.current
  return (
    <>
      <button
        {...field}
        ref={(element) => {
          button.current = element
          props.ref?.(element)
        }}
        type="button"
        role="combobox"
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={panels !== undefined}
        disabled={disabled}
        onPointerEnter={preloadOverlays}
        onFocus={preloadOverlays}
        onPointerDown={onPointerDown}
        // A finger opens it when it is lifted, because it may scroll the page instead.
        onClick={(event) => {
          event.currentTarget.focus()
          if (pressedBy.current !== 'mouse') setOpened(true)
        }}
        onKeyDown={onKeyDown}
        className={cx(
          controlClass,
          'inline-flex h-9 items-center justify-between gap-2 text-left',
          !chosen && 'text-fg-faint',
          className,
        )}
      >
        <span className="truncate" title={chosen?.label}>
          {chosen?.label ?? placeholder}
        </span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-fg-faint" />
      </button>
      {panels &&
        anchor &&
        (find ? (
          <panels.SearchPanel
            anchor={anchor}
            value={value}
            options={options}
            find={find}
            label={label ?? placeholder ?? 'Search'}
            onPick={(option) => {
              setFound(option)
              onChange(option.value)
              close()
            }}
            onClose={close}
          />
        ) : (
          <panels.SelectPanel
            anchor={anchor}
            value={value}
            options={options}
            onPick={onChange}
            onClose={close}
          />
        ))}
    </>
  )
}
