import { limits } from '@keyward/contract'
import { Plus, X } from 'lucide-react'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { emptyRow, noLicense, type ProductRow } from './shop-form.ts'

type RowErrors = Partial<Record<keyof ProductRow, { message?: string | undefined }>> | undefined

export interface ProductFieldsProps {
  app: string
  /** How the shop names a product. */
  hint: string
  value: readonly ProductRow[]
  onChange: (rows: ProductRow[]) => void
  errors: unknown
}

/** Which license type each product of the shop creates. */
export function ProductFields({ app, hint, value, onChange, errors }: ProductFieldsProps) {
  const types = useLicenseTypes(app).data ?? []
  const options = [
    ...types.map(({ _id, name }) => ({ value: _id, label: name })),
    { value: noLicense, label: 'No license' },
  ]
  const change = (at: number, part: Partial<ProductRow>) =>
    onChange(value.map((row, index) => (index === at ? { ...row, ...part } : row)))
  const errorsOf = (at: number): RowErrors => (Array.isArray(errors) ? errors[at] : undefined)
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-3 font-medium">Products</legend>
      <p className="-mt-1.5 text-[0.8125rem] text-fg-muted">
        {hint}. Orders of other products wait until you add them.
      </p>
      {value.map((row, at) => {
        const name = `product ${at + 1}`
        const faults = errorsOf(at)
        return (
          <fieldset
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no id, and its fields are controlled
            key={at}
            aria-label={`Product ${at + 1}`}
            className="grid min-w-0 grid-cols-[minmax(0,1fr)_5rem_auto] items-start gap-2 rounded-lg border p-3 pb-1 md:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_5rem_auto]"
          >
            <Field
              label="Product"
              className="max-md:col-span-2 max-md:col-start-1"
              error={faults?.product?.message}
            >
              <Input
                value={row.product}
                maxLength={limits.shopTextMax}
                spellCheck={false}
                onChange={(event) => change(at, { product: event.target.value })}
              />
            </Field>
            <Field
              label="License type"
              className="max-md:col-start-1 max-md:row-start-2"
              error={faults?.type?.message}
            >
              <Select
                value={row.type || undefined}
                placeholder="Choose"
                options={options}
                onChange={(type) => change(at, { type })}
              />
            </Field>
            <Field label="Licenses" className="max-md:row-start-2" error={faults?.quantity?.message}>
              <Input
                value={row.quantity}
                inputMode="numeric"
                onChange={(event) => change(at, { quantity: event.target.value })}
              />
            </Field>
            <IconButton
              label={`Remove ${name}`}
              className="mt-6.5 max-md:col-start-3 max-md:row-start-1"
              onClick={() => onChange(value.filter((_, index) => index !== at))}
            >
              <X />
            </IconButton>
          </fieldset>
        )
      })}
      {value.length < limits.shopProductsMax && (
        <div>
          <Button size="sm" onClick={() => onChange([...value, emptyRow])}>
            <Plus />
            Add Product
          </Button>
        </div>
      )}
    </fieldset>
  )
}
