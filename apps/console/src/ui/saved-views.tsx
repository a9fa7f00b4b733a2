import { Bookmark, MoreHorizontal, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'react-router'
import { type SavedView, savedViewsMax, toViewQuery } from '../lib/list/saved-views.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { Button, IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { DialogSlot } from './deferred.tsx'
import { Menu, MenuItem } from './menu.tsx'
import type { TableView } from './table-view.ts'
import { toast } from './toast.tsx'

const ViewNameDialog = lazyNamed(() => import('./view-name-dialog.tsx'), 'ViewNameDialog')

export interface SavedViewsProps {
  views: SavedView<TableView>[]
  onChange: (views: SavedView<TableView>[]) => void
  /** The columns as they are now. */
  columns: TableView
  onColumns: (columns: TableView) => void
}

/** Links to the saved views of a list. The current one can be renamed and deleted. */
export function SavedViews({ views, onChange, onColumns }: SavedViewsProps) {
  const { pathname, search } = useLocation()
  const query = toViewQuery(search)
  const [renamed, setRenamed] = useState<SavedView<TableView>>()

  function remove(view: SavedView<TableView>) {
    onChange(views.filter((other) => other !== view))
    toast.success('View Deleted', {
      description: view.name,
      duration: 10_000,
      action: { label: 'Undo', onClick: () => onChange(views) },
    })
  }

  return (
    <nav aria-label="Saved views" className="min-w-0 overflow-x-auto p-1 max-md:[scrollbar-width:none]">
      <ul className="flex h-9 items-center gap-1">
        <li>
          <ViewLink to={pathname} name="All" current={query === ''} />
        </li>
        {views.map((view) => (
          <li key={view.name} className="flex items-center">
            <ViewLink
              to={`${pathname}?${view.query}`}
              name={view.name}
              current={view.query === query}
              onOpen={() => onColumns(view.columns)}
            />
            {view.query === query && (
              <Menu
                align="start"
                trigger={
                  <IconButton label={`Change the view ${view.name}`}>
                    <MoreHorizontal />
                  </IconButton>
                }
              >
                <MenuItem icon={<Pencil />} onSelect={() => setRenamed(view)}>
                  Rename View
                </MenuItem>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => remove(view)}>
                  Delete View
                </MenuItem>
              </Menu>
            )}
          </li>
        ))}
      </ul>
      <DialogSlot>
        {renamed && (
          <ViewNameDialog
            title="Rename View"
            name={renamed.name}
            taken={namesOf(views.filter((view) => view !== renamed))}
            onSubmit={(name) => onChange(views.map((view) => (view === renamed ? { ...view, name } : view)))}
            onClose={() => setRenamed(undefined)}
          />
        )}
      </DialogSlot>
    </nav>
  )
}

const namesOf = (views: SavedView<TableView>[]) => views.map(({ name }) => name)

interface ViewLinkProps {
  to: string
  name: string
  current: boolean
  onOpen?: () => void
}

function ViewLink({ to, name, current, onOpen }: ViewLinkProps) {
  return (
    <Link
      to={to}
      onClick={onOpen}
      aria-current={current ? 'true' : undefined}
      className={cx(
        'inline-flex h-8 items-center whitespace-nowrap rounded-lg px-3 font-medium text-[0.8125rem] max-md:h-9',
        current ? 'bg-hover text-fg' : 'text-fg-muted hover:bg-hover hover:text-fg',
      )}
    >
      {name}
    </Link>
  )
}

/** Saves the current filters, order and columns under a name; hidden while there is nothing new to save. */
export function SaveView({ views, onChange, columns }: SavedViewsProps) {
  const query = toViewQuery(useLocation().search)
  const [naming, setNaming] = useState(false)
  const isSaved = query === '' || views.some((view) => view.query === query)
  const save = (name: string) => {
    onChange([...views, { name, query, columns }])
    toast.success('View Saved', { description: 'Its address opens the same list for your colleagues.' })
  }
  return (
    <>
      {!isSaved && views.length < savedViewsMax && (
        <Button onClick={() => setNaming(true)}>
          <Bookmark />
          Save View
        </Button>
      )}
      <DialogSlot>
        {naming && (
          <ViewNameDialog
            title="Save View"
            description="Remembers the filters, the order and the columns of this list in this browser."
            name=""
            taken={namesOf(views)}
            onSubmit={save}
            onClose={() => setNaming(false)}
          />
        )}
      </DialogSlot>
    </>
  )
}
