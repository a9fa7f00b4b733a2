import { limits } from '@keyward/contract'
import { Eye, EyeOff, Search, X } from 'lucide-react'
import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { useFieldControl } from './field.tsx'

/** 16 px on phones: mobile browsers zoom into fields with smaller text. */
export const controlClass = cx(
  'w-full min-w-0 rounded-lg border border-line-strong/70 bg-surface px-3 text-base text-fg shadow-soft transition-colors md:text-sm',
  'placeholder:text-fg-faint hover:border-line-strong focus-visible:border-accent focus-visible:outline-offset-0',
  'disabled:cursor-not-allowed disabled:bg-sunken disabled:text-fg-muted [&[readonly]]:bg-sunken',
  'aria-invalid:border-danger',
)

/** Chromium cuts off underscores of some monospaced fonts unless the line is higher than the inside of the field. */
export function Input({ className, type = 'text', ...props }: ComponentProps<'input'>) {
  return (
    <input
      type={type}
      {...props}
      {...useFieldControl(props)}
      className={cx(controlClass, 'h-9 leading-9', className)}
    />
  )
}

/** For what is compared exactly, such as an address or a name: the browser completes, capitalizes and corrects nothing. */
export function ExactInput(props: ComponentProps<'input'>) {
  return <Input autoComplete="off" autoCapitalize="off" spellCheck={false} {...props} />
}

/** For a whole number, from 1 unless `min` says otherwise. */
export function NumberInput(props: ComponentProps<'input'>) {
  return <Input type="number" inputMode="numeric" min={1} step={1} {...props} />
}

export function PasswordInput({ className, ...props }: Omit<ComponentProps<'input'>, 'type'>) {
  const [shown, setShown] = useState(false)
  return (
    <div className="relative">
      <Input {...props} type={shown ? 'text' : 'password'} className={cx('pr-10', className)} />
      <IconButton
        label={shown ? 'Hide password' : 'Show password'}
        aria-pressed={shown}
        className="absolute top-0.5 right-0.5"
        onClick={() => setShown(!shown)}
      >
        {shown ? <EyeOff /> : <Eye />}
      </IconButton>
    </div>
  )
}

export function Textarea({ className, rows = 3, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea
      rows={rows}
      {...props}
      {...useFieldControl(props)}
      className={cx(controlClass, 'py-2', className)}
    />
  )
}

export interface SearchInputProps {
  value: string
  /** Called 300 ms after the last change, and immediately when the field is cleared. */
  onSearch: (value: string) => void
  label: string
  placeholder?: string
  className?: string
}

export function SearchInput({ value, onSearch, label, placeholder, className }: SearchInputProps) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value
      setText(value)
    }
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(
      () => {
        sent.current = text
        onSearch(text)
      },
      text ? 300 : 0,
    )
    return () => clearTimeout(timer)
  }, [text, onSearch])
  return (
    <div data-search="" className={cx('relative', className)}>
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-fg-faint" />
      <Input
        type="text"
        inputMode="search"
        role="searchbox"
        aria-label={label}
        placeholder={placeholder ?? label}
        maxLength={limits.searchMax}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="pr-9 pl-9"
      />
      {text && (
        <IconButton label="Clear Search" className="absolute top-0.5 right-0.5" onClick={() => setText('')}>
          <X />
        </IconButton>
      )}
    </div>
  )
}
