import type { ShopOrder } from '@keyward/contract'
import { useState } from 'react'
import { call } from '../../lib/api/call.ts'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { useShops } from '../../lib/api/shops.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { Button } from '../../ui/button.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'

const noLicense = 'none'

/** Chooses a license type for the products of an order that have none; the shop's orders of them go on at once. */
export function ChooseType({ order }: { order: ShopOrder }) {
  const may = useMay()
  const mayChoose = order.reasonCode === 'type_missing' && may(wire.shops.update) && may(wire.shops.list)
  const app = mayChoose ? order.app._id : undefined
  const shop = useShops(app).data?.find(({ _id }) => _id === order.shop._id)
  const types = useLicenseTypes(app).data ?? []
  const [chosen, setChosen] = useState<Record<string, string>>({})
  const products = order.lines
    .map(({ product }) => product)
    .filter((product) => !shop?.products.some((known) => known.product === product))
  const save = useWrite({
    mutationFn: async () => {
      const added = products.flatMap((product) => {
        const type = chosen[product]
        return type ? [{ product, type: type === noLicense ? null : type, quantity: 1 }] : []
      })
      const body = { products: [...(shop?.products ?? []), ...added] }
      await call(wire.shops.update, { params: { id: order.shop._id }, body })
    },
    onSuccess: () => toast.success('Type chosen. Orders of this product are tried again'),
    onError: (error) => toastFailure(error, 'Failed to choose the type'),
  })
  if (!shop || products.length === 0) return null
  const options = [
    ...types.map(({ _id, name }) => ({ value: _id, label: name })),
    { value: noLicense, label: 'No license' },
  ]
  return (
    <section aria-label="License types" className="grid gap-3">
      {products.map((product) => (
        <Field key={product} label={`License type of ${product}`}>
          <Select
            value={chosen[product]}
            placeholder="Choose"
            options={options}
            onChange={(type) => setChosen({ ...chosen, [product]: type })}
          />
        </Field>
      ))}
      <div>
        <Button
          variant="primary"
          loading={save.isPending}
          disabled={!products.some((product) => chosen[product])}
          onClick={() => save.mutate()}
        >
          Choose Type
        </Button>
      </div>
    </section>
  )
}
