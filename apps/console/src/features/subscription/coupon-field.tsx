import { Tag, X } from 'lucide-react'
import { type ChangeEvent, type FormEvent, useEffect, useRef } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ExactInput } from '../../ui/input.tsx'
import type { Coupon } from './use-coupon.ts'

export interface CouponFieldProps {
  coupon: Coupon
  /** Coupons that the server lists for everyone. */
  offered: { couponCode: string; discount: number }[]
  disabled: boolean
}

/** Applies a coupon. The offers show the discounted prices. */
export function CouponField({ coupon, offered, disabled }: CouponFieldProps) {
  const { applied } = coupon
  const box = useRef<HTMLDivElement>(null)
  const wasApplied = useRef(applied !== undefined)
  // Move the focus to the control that replaces the focused one.
  useEffect(() => {
    if (wasApplied.current === (applied !== undefined)) return
    wasApplied.current = applied !== undefined
    box.current?.querySelector<HTMLElement>('input, button')?.focus()
  }, [applied])

  function submit(event: FormEvent) {
    event.preventDefault()
    coupon.apply()
  }

  return (
    <div ref={box}>
      <div role="status">
        {applied && (
          <div className="flex min-h-11 items-center gap-2.5 rounded-lg border border-success-line bg-success-soft py-1 pr-1.5 pl-3 text-success-text">
            <Tag aria-hidden className="size-4 shrink-0" />
            <p className="wrap-anywhere min-w-0 flex-1 font-medium">
              {applied.couponCode}: {applied.discount}% off
            </p>
            <IconButton
              label={`Remove coupon ${applied.couponCode}`}
              className="text-success-text hover:bg-success-line/50 hover:text-success-text"
              onClick={coupon.remove}
            >
              <X />
            </IconButton>
          </div>
        )}
      </div>
      {!applied && (
        <form noValidate onSubmit={submit} className="flex items-start gap-2">
          <Field label="Coupon code" optional error={coupon.error} className="min-w-0 flex-1">
            <ExactInput
              value={coupon.text}
              onChange={(event) => coupon.type(upperCased(event))}
              disabled={disabled}
              maxLength={40}
              autoCapitalize="characters"
              className="font-mono uppercase placeholder:font-sans placeholder:normal-case"
              placeholder="Enter a code"
            />
          </Field>
          <Button type="submit" className="mt-[1.625rem]" disabled={disabled} loading={coupon.checking}>
            Apply
          </Button>
        </form>
      )}
      {!applied && offered.length > 0 && (
        <ul aria-label="Available coupons" className="mt-3 flex flex-wrap gap-2">
          {offered.map(({ couponCode, discount }) => (
            <li key={couponCode}>
              <Button
                size="sm"
                disabled={disabled || coupon.checking}
                onClick={() => coupon.apply(couponCode)}
                className="border-dashed"
              >
                <span className="font-mono">{couponCode}</span> {discount}% off
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Converts to upper case in place, to keep the caret position. */
function upperCased({ target }: ChangeEvent<HTMLInputElement>) {
  const { value, selectionStart, selectionEnd } = target
  const upper = value.toUpperCase()
  if (upper !== value) {
    target.value = upper
    target.setSelectionRange(selectionStart, selectionEnd)
  }
  return upper
}
