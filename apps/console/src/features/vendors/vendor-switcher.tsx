import type { User } from '@keyward/contract'
import { Check, ChevronsUpDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { roleFacts } from '../../lib/format/roles.ts'
import { cx } from '../../ui/cx.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { useOpenVendor, useVendors } from './queries.ts'

/** Who is signed in, with which role; a menu for people with several vendor accounts. */
export function VendorSwitcher({ user, expanded }: { user: User; expanded: boolean }) {
  const vendors = useVendors().data ?? []
  const open = useOpenVendor()
  if (vendors.length < 2) {
    return expanded ? (
      <div className="flex items-center gap-3 border-t px-3.5 py-3">
        <Person user={user} />
      </div>
    ) : null
  }
  return (
    <div className={cx('border-t', expanded ? 'p-1.5' : 'grid place-items-center py-2')}>
      <Menu
        side="top"
        align="start"
        trigger={<Trigger user={user} expanded={expanded} disabled={open.isPending} />}
      >
        {vendors.map((vendor) => (
          <MenuItem
            key={vendor._id}
            icon={vendor.current ? <Check aria-label="Open now" /> : <span className="size-4" />}
            onSelect={() => !vendor.current && open.mutate(vendor)}
          >
            <span className="min-w-0 max-w-40 flex-1 truncate" title={vendor.name}>
              {vendor.name}
            </span>
            <span className="text-fg-muted text-xs">{roleFacts[vendor.role].label}</span>
          </MenuItem>
        ))}
      </Menu>
    </div>
  )
}

interface TriggerProps extends ComponentProps<'button'> {
  user: User
  expanded: boolean
}

function Trigger({ user, expanded, className, ...button }: TriggerProps) {
  return (
    <button
      type="button"
      {...button}
      aria-label={`Switch account, now ${user.vendor.name}`}
      className={cx(
        'flex items-center gap-3 rounded-lg text-left hover:bg-hover',
        expanded ? 'w-full p-2 py-1.5' : 'p-0.5',
        className,
      )}
    >
      {expanded ? <Person user={user} /> : <Initial name={user.name} />}
      {expanded && <ChevronsUpDown aria-hidden className="ml-auto size-4 shrink-0 text-fg-muted" />}
    </button>
  )
}

function Initial({ name }: { name: string }) {
  return (
    <span
      aria-hidden
      className="grid size-8 shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-accent-text"
    >
      {[...name][0]?.toUpperCase()}
    </span>
  )
}

function Person({ user }: { user: User }) {
  const line = user.role === 'owner' ? user.email : `${roleFacts[user.role].label} at ${user.vendor.name}`
  return (
    <>
      <Initial name={user.name} />
      <span className="min-w-0">
        <span className="block truncate font-medium" title={user.name}>
          {user.name}
        </span>
        <span className="block truncate text-fg-muted text-xs" title={line}>
          {line}
        </span>
      </span>
    </>
  )
}
