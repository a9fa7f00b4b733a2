import { limits } from '@keyward/contract'
import { KeyRound, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { apiKeyColumns } from '../../features/api-keys/api-key-columns.tsx'
import { ApiKeyDialogs, useApiKeyDialog } from '../../features/api-keys/api-key-dialogs.tsx'
import { toCurl } from '../../features/api-keys/curl-example.ts'
import { useApiKeys } from '../../features/api-keys/queries.ts'
import { useApps } from '../../lib/api/apps.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { tableState } from '../../lib/list/list-page.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { SettingsHeader } from './settings-header.tsx'

export function ApiKeysPage() {
  const apps = useApps().data
  const apiKeys = useApiKeys()
  const { open } = useApiKeyDialog()
  const baseUrl = usePublicConfig()?.publicUrl ?? window.location.origin
  const columns = useMemo(
    () => apiKeyColumns({ apps: apps ?? [], onRevoke: ({ _id }) => open('revoke', _id) }),
    [apps, open],
  )
  const { loading, error } = tableState(apiKeys, 'Failed to load API keys')
  const create = (label: string) => (
    <Button variant="primary" onClick={() => open('create')}>
      <Plus />
      {label}
    </Button>
  )
  const isFull = (apiKeys.data?.length ?? 0) >= limits.apiKeysMax
  return (
    <div className="grid gap-4 md:gap-6">
      <SettingsHeader
        title="API Keys"
        subtitle="Your own scripts and services call the API with a key, within the permissions that you choose."
        primary={apiKeys.data && apiKeys.data.length > 0 && !isFull && create('Create Key')}
      />
      <Card className="overflow-clip">
        {apiKeys.data?.length !== 0 && (
          <CardHeader
            title="Keys"
            description={`At most ${limits.apiKeysMax}. The last use and its address are up to five minutes old.`}
          />
        )}
        <Table
          caption="API keys, newest first"
          columns={columns}
          rows={apiKeys.data}
          rowKey={({ _id }) => _id}
          loading={loading}
          error={error}
          empty={
            <>
              <EmptyState
                className="pb-6"
                icon={<KeyRound />}
                title="No API keys yet"
                description="With a key, a shop can issue licenses and a bot can ban them."
                actions={create('Create First Key')}
              />
              <div className="mx-auto max-w-2xl px-4 pb-8">
                <CodeBlock title="Terminal" code={toCurl(baseUrl, 'kwa_…', ['licenses:read']) ?? ''} />
              </div>
            </>
          }
        />
      </Card>
      <ApiKeyDialogs apiKeys={apiKeys.data ?? []} />
    </div>
  )
}
