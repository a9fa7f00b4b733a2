import { limits } from '@keyward/contract'
import { KeyRound, Plus, ShoppingCart, Sparkles, Trash2, Upload } from 'lucide-react'
import { useNavigate } from 'react-router'
import { licenseColumns } from '../../features/licenses/license-columns.tsx'
import {
  LicenseDialog,
  licenseBulkDialogs,
  licenseDialogs,
} from '../../features/licenses/license-dialogs.tsx'
import { LicenseMenu } from '../../features/licenses/license-menu.tsx'
import { LicenseStats } from '../../features/licenses/license-stats.tsx'
import { useLicenses } from '../../features/licenses/queries.ts'
import { statusFilters } from '../../features/licenses/status.ts'
import { call } from '../../lib/api/call.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { licenseSorts } from '../../lib/list/sort-words.ts'
import { fromHeaderSort, toHeaderSort } from '../../lib/list/sorting.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { MenuItem } from '../../ui/menu.tsx'
import { MoreMenu } from '../../ui/more-menu.tsx'
import { Callout } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { OwnerList, OwnerPage, useOwnerList, useOwnerSelection } from './owner-list.tsx'

const bulkParts = () => import('../../features/licenses/license-bulk.tsx')
const LicenseSelection = lazyNamed(bulkParts, 'LicenseSelection')
const ChooseAllLicenses = lazyNamed(bulkParts, 'ChooseAllLicenses')
const deleteDialogs = () => import('../../features/licenses/delete-dialogs.tsx')
const DeleteAllDialog = lazyNamed(deleteDialogs, 'DeleteAllDialog')
const GenerateDialog = lazyNamed(
  () => import('../../features/licenses/generate-dialog.tsx'),
  'GenerateDialog',
)
const NewSaleDialog = lazyNamed(() => import('../../features/licenses/new-sale-dialog.tsx'), 'NewSaleDialog')

const bulkDialogs = Object.keys(licenseBulkDialogs) as (keyof typeof licenseBulkDialogs)[]
const dialogsFor = (app: string | undefined) => ({
  generate: [wire.licenses.create],
  'new-sale': [wire.licenses.create],
  'delete-all': [
    app === undefined
      ? wire.licenses.removeAll
      : { call: wire.licenses.removeAll, part: 'with app' as const },
  ],
  'extend-all': [wire.bulk.licenses],
  ...licenseDialogs,
  ...licenseBulkDialogs,
})

export function LicensesPage() {
  const list = useOwnerList('licenses', statusFilters, { hasOrigin: true, sorts: licenseSorts })
  const { owner, apps, app, hasApps, sort, page, filters } = list
  const query = { ...filters, banned: 'apart' } as const
  const dialog = useCallDialog(dialogsFor(app?._id))
  const may = useMay()
  const navigate = useNavigate()

  const licenses = useLicenses({ ...query, sort, page, limit: list.size.limit }, hasApps && !list.resolving)
  const data = list.resolving ? undefined : licenses.data
  const selection = useOwnerSelection(
    filters,
    data?.licenses,
    data,
    async (range, signal) =>
      (await call(wire.licenses.list, { query: { ...query, ...range }, signal })).licenses,
  )
  const bulk = bulkDialogs.find((kind) => kind === dialog.kind)
  const chosen = useChosen(data?.licenses, dialog.id)

  function deleteAll() {
    if (data?.stats.total === 0) toast.info('No licenses to delete')
    else dialog.open('delete-all')
  }

  const exportAs = async (format: 'csv' | 'json') =>
    (await import('./export-list.ts')).exportList({
      endpoint: wire.bulk.exportLicenses,
      filters: query,
      format,
      noun: 'licenses',
      pagination: data?.pagination,
    })

  const limit = owner?.maxLicensesPerApp ?? limits.free.maxLicensesPerApp
  const generateButton = dialog.may('generate') && (
    <Button variant="primary" onClick={() => dialog.open('generate')} disabled={!hasApps}>
      <Plus />
      Generate License
    </Button>
  )

  return (
    <OwnerPage
      list={list}
      title="Licenses"
      subtitle="Issue license keys for your apps and see who uses them."
      noApps={{ icon: <KeyRound />, reason: 'A license belongs to an app.' }}
      actions={
        !list.isWithoutApps && (
          <>
            <MoreMenu
              scope={list.filtered ? 'matching licenses' : 'all licenses'}
              empty={!data || data.pagination.total === 0}
              onExport={exportAs}
            >
              {may(wire.imports.create, wire.clients.createDirect) && (
                <MenuItem
                  icon={<Upload />}
                  disabled={!hasApps}
                  onSelect={() => navigate(listPath(paths.imports, { app: app?._id, dialog: 'new-import' }))}
                >
                  Import Licenses
                </MenuItem>
              )}
            </MoreMenu>
            {dialog.may('new-sale') && (
              <Button onClick={() => dialog.open('new-sale')} disabled={!hasApps}>
                <ShoppingCart />
                New Sale
              </Button>
            )}
            {dialog.may('delete-all') && (
              <Button variant="dangerQuiet" onClick={deleteAll} disabled={!data}>
                <Trash2 />
                <span className="max-md:sr-only">Delete All</span>
              </Button>
            )}
          </>
        )
      }
      primary={generateButton}
    >
      {owner?.plan === 'free' && may(wire.plans.subscription) && (
        <Callout
          tone="accent"
          icon={<Sparkles aria-hidden />}
          className={data ? 'max-md:order-last' : 'max-md:hidden'}
          action={
            <May call={wire.payments.createOrder}>
              <Button asChild size="sm">
                <a href={paths.subscription}>Upgrade Now</a>
              </Button>
            </May>
          }
        >
          {`Each app is limited to ${limit} licenses. Upgrade for unlimited licenses.`}
        </Callout>
      )}

      <LicenseStats stats={data?.stats} loading={list.isLoading(licenses)} app={app} />

      <OwnerList
        list={list}
        title="Recent Licenses"
        noun="licenses"
        icon={<KeyRound />}
        search={{ label: 'Search licenses', placeholder: 'Key, email, order, note …' }}
        hasViews
        query={licenses}
        page={data}
        rows={data?.licenses}
        failure="Failed to fetch licenses"
        caption={`Licenses, ${sort ?? 'newest'}`}
        selection={{ selected: selection.ids, onChange: selection.select }}
        columns={licenseColumns}
        sort={toHeaderSort(sort, 'created')}
        onSort={(by) => list.setFilters({ sort: fromHeaderSort(by) })}
        rowLabel={(license) => keyPrefix(license.key)}
        rowMenu={(license) => (
          <LicenseMenu license={license} onAction={(action) => dialog.open(action, license._id)} />
        )}
        skeletonRows={8}
        empty={{
          title: 'No licenses found',
          description: generateButton
            ? 'Generate a key and hand it to a customer. This list shows when it is used.'
            : 'Licenses appear here once somebody in your team generates them.',
          actions: generateButton,
        }}
      >
        {(selection.rows.length > 0 || bulk) && (
          <Deferred onFail={() => selection.select([])}>
            <LicenseSelection
              rows={selection.rows}
              all={selection.all}
              onSelect={selection.select}
              dialog={bulk}
              may={dialog.may}
              onOpen={dialog.open}
              onClose={dialog.close}
            />
          </Deferred>
        )}
      </OwnerList>

      <LicenseDialog kind={dialog.kind} license={chosen} onClose={dialog.close} />
      <DialogSlot>
        {dialog.kind === 'extend-all' && data && data.pagination.total > 0 && (
          <ChooseAllLicenses
            {...selection.everything}
            onChosen={(rows) => {
              selection.add(rows)
              dialog.open('bulk-extend', undefined, { replace: true })
            }}
            onClose={dialog.close}
          />
        )}
        {dialog.kind === 'new-sale' && hasApps && <NewSaleDialog appId={app?._id} onClose={dialog.close} />}
        {dialog.kind === 'generate' && hasApps && (
          <GenerateDialog onClose={dialog.close} apps={apps.data ?? []} appId={app?._id} />
        )}
        {dialog.kind === 'delete-all' && data && data.stats.total > 0 && (
          <DeleteAllDialog app={app} count={data.stats.total} onClose={dialog.close} />
        )}
      </DialogSlot>
    </OwnerPage>
  )
}
