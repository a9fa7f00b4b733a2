import { Import as ImportIcon, Plus } from 'lucide-react'
import { importColumns } from '../../features/imports/import-columns.tsx'
import { useImports } from '../../features/imports/queries.ts'
import { useApps } from '../../lib/api/apps.ts'
import { wire } from '../../lib/api/wire.ts'
import { tableState } from '../../lib/list/list-page.ts'
import { toId } from '../../lib/list/url-values.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { Breadcrumb } from '../../ui/breadcrumb.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { NoApps } from './no-apps.tsx'

const ImportView = lazyNamed(() => import('../../features/imports/import-view.tsx'), 'ImportView')
const NewImportDialog = lazyNamed(
  () => import('../../features/imports/new-import-dialog.tsx'),
  'NewImportDialog',
)

const dialogs = {
  'new-import': [wire.imports.create, wire.clients.createDirect],
  'undo-import': [wire.imports.undo, wire.clients.createDirect],
}

const subtitle = 'Bring licenses along from a CSV file, and end users too from another system.'

/** What other systems handed over, one import at a time. */
export function ImportsPage() {
  const apps = useApps()
  const [url, setUrl] = useUrlState('import', 'app', 'outcome', 'page', 'dialog', 'id')
  const shown = toId(url.import)
  const dialog = useCallDialog(dialogs)
  const imports = useImports()
  if (apps.data?.length === 0)
    return (
      <div className="grid gap-4 md:gap-6">
        <PageHeader title="Imports" subtitle={subtitle} />
        <NoApps icon={<ImportIcon />} reason="An import fills an app." />
      </div>
    )

  const newButton = dialog.may('new-import') && (
    <Button variant="primary" onClick={() => dialog.open('new-import')}>
      <Plus />
      New Import
    </Button>
  )
  return (
    <div className="grid gap-4 md:gap-6">
      {shown ? (
        <Breadcrumb label="All Imports" to={paths.imports} />
      ) : (
        <Breadcrumb label="Licenses" to={paths.licenses} />
      )}
      <PageHeader title="Imports" subtitle={subtitle} primary={!shown && newButton} />
      {shown ? (
        <Deferred>
          <ImportView
            key={shown}
            id={shown}
            onUndo={dialog.may('undo-import') ? () => dialog.open('undo-import') : undefined}
            isUndoing={dialog.kind === 'undo-import'}
            onClose={dialog.close}
          />
        </Deferred>
      ) : (
        <Card>
          <CardHeader title="Your Imports" description="Reports are kept for 30 days." />
          <Table
            caption="Imports, newest first"
            columns={importColumns}
            rows={imports.data}
            rowKey={({ _id }) => _id}
            {...tableState(imports, 'Failed to load imports', apps)}
            skeletonRows={4}
            empty={
              <EmptyState
                icon={<ImportIcon />}
                title="No imports yet"
                description="Choose a CSV file, or the files of your old system. You see what would happen before anything changes."
                actions={newButton}
              />
            }
          />
        </Card>
      )}
      <DialogSlot>
        {dialog.kind === 'new-import' && apps.data && (
          <NewImportDialog
            apps={apps.data}
            appId={toId(url.app)}
            onCreated={(id) => setUrl({ import: id, dialog: undefined, id: undefined }, { replace: false })}
            onClose={dialog.close}
          />
        )}
      </DialogSlot>
    </div>
  )
}
