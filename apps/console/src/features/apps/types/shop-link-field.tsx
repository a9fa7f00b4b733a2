import type { InputHTMLAttributes, Ref } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { ExactInput } from '../../../ui/input.tsx'
import { Callout } from '../../../ui/states.tsx'
import { adviceOn } from './shop-links.ts'

interface ShopLinkFieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string
  optional?: boolean
  hint?: string
  error: string | undefined
  /** The link as it is typed. */
  link: string
  onBetter: (link: string) => void
  ref?: Ref<HTMLInputElement>
}

/** A link to a shop, and what to change in it so that the shop returns the reference of the license. */
export function ShopLinkField({
  label,
  optional,
  hint,
  error,
  link,
  onBetter,
  ...input
}: ShopLinkFieldProps) {
  const advice = adviceOn(link)
  return (
    <div className="grid gap-2">
      <Field label={label} optional={optional} hint={hint} error={error}>
        <ExactInput inputMode="url" placeholder="https://" {...input} />
      </Field>
      {advice && (
        <Callout
          tone="warning"
          action={
            advice.better !== undefined && (
              <Button size="sm" onClick={() => onBetter(advice.better ?? '')}>
                Add It to the {label}
              </Button>
            )
          }
        >
          {advice.text}
        </Callout>
      )}
    </div>
  )
}
