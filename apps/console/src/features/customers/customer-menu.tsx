import type { Customer } from '@keyward/contract'
import { Download, Pencil, Trash2 } from 'lucide-react'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { useExportCustomer } from './queries.ts'

export interface CustomerMenuProps {
  customer: Customer
  onEdit: () => void
  onErase: () => void
}

export function CustomerMenu({ customer, onEdit, onErase }: CustomerMenuProps) {
  const may = useMay()
  const file = useExportCustomer()
  const { update, export: exporting, remove } = wire.customers
  if (![update, exporting, remove].some((call) => may(call))) return null
  return (
    <Menu label={`Actions for ${customer.email}`}>
      <May call={update}>
        <MenuItem icon={<Pencil />} onSelect={onEdit}>
          Edit Customer
        </MenuItem>
      </May>
      <May call={exporting}>
        <MenuItem icon={<Download />} onSelect={() => file.mutate(customer)}>
          Export as JSON
        </MenuItem>
      </May>
      <May call={remove}>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} tone="danger" onSelect={onErase}>
          Erase Customer
        </MenuItem>
      </May>
    </Menu>
  )
}
