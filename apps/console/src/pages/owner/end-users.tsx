import { BookOpen, KeyRound, UserPlus, Users } from 'lucide-react'
import { Link } from 'react-router'
import { endUserColumns } from '../../features/end-users/end-user-columns.tsx'
import {
  EndUserDialog,
  endUserBulkDialogs,
  endUserDialogs,
} from '../../features/end-users/end-user-dialogs.tsx'
import { EndUserMenu } from '../../features/end-users/end-user-menu.tsx'
import { EndUserCounts, EndUserStats } from '../../features/end-users/end-user-stats.tsx'
import { useEndUsers } from '../../features/end-users/queries.ts'
import { RegistrationExplainer } from '../../features/end-users/registration-explainer.tsx'
import { statusFilters } from '../../features/end-users/status.ts'
import { call } from '../../lib/api/call.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { endUserSorts } from '../../lib/list/sort-words.ts'
import { fromHeaderSort, toHeaderSort } from '../../lib/list/sorting.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { MoreMenu } from '../../ui/more-menu.tsx'
import { OwnerList, OwnerPage, useOwnerList, useOwnerSelection } from './owner-list.tsx'

const EndUserSelection = lazyNamed(
  () => import('../../features/end-users/end-user-bulk.tsx'),
  'EndUserSelection',
)
const CreateEndUserDialog = lazyNamed(
  () => import('../../features/end-users/create-dialog.tsx'),
  'CreateEndUserDialog',
)
const bulkDialogs = Object.keys(endUserBulkDialogs) as (keyof typeof endUserBulkDialogs)[]
const dialogs = { create: [wire.clients.createDirect], ...endUserDialogs, ...endUserBulkDialogs }

export function EndUsersPage() {
  const list = useOwnerList('end-users', statusFilters, { hasOrigin: true, sorts: endUserSorts })
  const { apps, app, hasApps, sort, page, filters } = list
  const dialog = useCallDialog(dialogs)

  const users = useEndUsers({ ...filters, sort, page, limit: list.size.limit }, hasApps && !list.resolving)
  const data = list.resolving ? undefined : users.data
  const selection = useOwnerSelection(
    filters,
    data?.clients,
    data,
    async (range, signal) =>
      (await call(wire.clients.list, { query: { ...filters, ...range }, signal })).clients,
  )
  const mayChange = bulkDialogs.some(dialog.may)
  const bulk = bulkDialogs.find((kind) => kind === dialog.kind)
  const chosen = useChosen(data?.clients, dialog.id)

  const exportAs = async (format: 'csv' | 'json') =>
    (await import('./export-list.ts')).exportList({
      endpoint: wire.bulk.exportClients,
      filters,
      format,
      noun: 'end users',
      pagination: data?.pagination,
    })

  return (
    <OwnerPage
      list={list}
      title="End Users"
      subtitle="Manage end users who have registered using your license keys."
      noApps={{ icon: <Users />, reason: 'An end user belongs to an app.' }}
      actions={
        !list.isWithoutApps && (
          <MoreMenu
            scope={list.filtered ? 'matching end users' : 'all end users'}
            empty={!data || data.pagination.total === 0}
            onExport={exportAs}
          />
        )
      }
      primary={
        dialog.may('create') && (
          <Button variant="primary" onClick={() => dialog.open('create')} disabled={!hasApps}>
            <UserPlus />
            Create End User
          </Button>
        )
      }
    >
      <EndUserStats stats={data?.stats} loading={list.isLoading(users)} app={app} />

      <OwnerList
        list={list}
        title="Registered users"
        description={<EndUserCounts stats={data?.stats} />}
        stacked
        noun="end users"
        icon={<Users />}
        search={{ label: 'Search end users', placeholder: 'Name, email, device …' }}
        hasViews
        query={users}
        page={data}
        rows={data?.clients}
        failure="Failed to load users"
        caption={`End users, ${sort ?? 'newest'}`}
        selection={mayChange ? { selected: selection.ids, onChange: selection.select } : undefined}
        columns={endUserColumns}
        sort={toHeaderSort(sort, 'joined')}
        onSort={(by) => list.setFilters({ sort: fromHeaderSort(by) })}
        rowLabel={endUserName}
        rowMenu={(user) => <EndUserMenu user={user} onAction={(action) => dialog.open(action, user._id)} />}
        skeletonRows={8}
        empty={{
          title: 'No end users yet',
          description:
            'End users appear here once they register in your program with one of your license keys.',
          actions: (
            <>
              <May call={wire.licenses.create}>
                <Button asChild variant="primary">
                  <Link to={paths.licenses}>
                    <KeyRound />
                    Generate Licenses
                  </Link>
                </Button>
              </May>
              <Button asChild>
                <a href={paths.docs}>
                  <BookOpen />
                  API docs
                </a>
              </Button>
            </>
          ),
        }}
      >
        {mayChange && (selection.rows.length > 0 || bulk) && (
          <Deferred onFail={() => selection.select([])}>
            <EndUserSelection
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

      {data && <RegistrationExplainer account={list.owner?._id} done={data.stats.total > 0} />}
      <EndUserDialog kind={dialog.kind} user={chosen} onClose={dialog.close} />
      <DialogSlot>
        {dialog.kind === 'create' && hasApps && (
          <CreateEndUserDialog onClose={dialog.close} apps={apps.data ?? []} appId={app?._id} />
        )}
      </DialogSlot>
    </OwnerPage>
  )
}
