import { Check, SlidersHorizontal } from 'lucide-react'
import { type ReactNode, use } from 'react'
import { IconButton } from './button.tsx'
import { Menu, MenuSeparator } from './menu.tsx'
import { MenuParts } from './menu-parts.ts'
import type { Column } from './table-props.ts'
import { isHideable, isShown, type TableView } from './table-view.ts'

export interface TableMenuProps {
  columns: readonly Pick<Column<never>, 'id' | 'header' | 'phone' | 'always'>[]
  view: TableView
  /** Ids of the columns whose value a filter fixes, which are hidden by default. */
  fixed?: readonly string[]
  onChange: (view: TableView) => void
}

const densities = { comfortable: 'Comfortable', compact: 'Compact' } as const

/** Chooses the columns and the density of a table. Not on phones, which show two lines of each row. */
export function TableMenu({ columns, view, fixed = [], onChange }: TableMenuProps) {
  function toggle(column: TableMenuProps['columns'][number]) {
    const { id } = column
    const others = (ids: readonly string[]) => ids.filter((other) => other !== id)
    if (isShown(column, view, fixed))
      onChange({ ...view, hidden: [...others(view.hidden), id], shown: others(view.shown) })
    else
      onChange({
        ...view,
        hidden: others(view.hidden),
        shown: fixed.includes(id) ? [...others(view.shown), id] : view.shown,
      })
  }
  return (
    <span className="max-md:hidden">
      <Menu
        trigger={
          <IconButton label="Columns and density" variant="secondary" className="size-9">
            <SlidersHorizontal />
          </IconButton>
        }
      >
        <Heading>Columns</Heading>
        {columns.filter(isHideable).map((column) => (
          <Option
            key={column.id}
            role="menuitemcheckbox"
            checked={isShown(column, view, fixed)}
            onSelect={() => toggle(column)}
          >
            {column.header}
            {fixed.includes(column.id) && <span className="text-fg-muted text-xs">set by the filter</span>}
          </Option>
        ))}
        <MenuSeparator />
        <Heading>Density</Heading>
        {(Object.keys(densities) as (keyof typeof densities)[]).map((density) => (
          <Option
            key={density}
            role="menuitemradio"
            checked={view.density === density}
            onSelect={() => onChange({ ...view, density })}
          >
            {densities[density]}
          </Option>
        ))}
      </Menu>
    </span>
  )
}

function Heading({ children }: { children: string }) {
  return <p className="px-2.5 pt-1.5 pb-1 font-medium text-fg-muted text-xs">{children}</p>
}

interface OptionProps {
  role: 'menuitemcheckbox' | 'menuitemradio'
  checked: boolean
  onSelect: () => void
  children: ReactNode
}

function Option({ role, checked, onSelect, children }: OptionProps) {
  const parts = use(MenuParts)
  if (!parts) return null
  return (
    <parts.Item
      role={role}
      aria-checked={checked}
      onSelect={(event) => {
        event.preventDefault()
        onSelect()
      }}
      className="flex cursor-default select-none items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover"
    >
      <Check aria-hidden className={checked ? 'size-4 text-accent-text' : 'invisible size-4'} />
      {children}
    </parts.Item>
  )
}
