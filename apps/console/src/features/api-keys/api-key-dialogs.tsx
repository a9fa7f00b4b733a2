import type { ApiKey } from '@keyward/contract'
import { useState } from 'react'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam } from '../../lib/navigation/url-state.ts'
import { DialogSlot } from '../../ui/deferred.tsx'
import type { CreatedApiKey } from './queries.ts'

const CreateDialog = lazyNamed(() => import('./create-dialog.tsx'), 'CreateDialog')
const RevokeDialog = lazyNamed(() => import('./revoke-dialog.tsx'), 'RevokeDialog')

export const useApiKeyDialog = () => useDialogParam(['create', 'revoke'])

/** The dialog named in the URL. */
export function ApiKeyDialogs({ apiKeys }: { apiKeys: ApiKey[] }) {
  const { kind, id, close } = useApiKeyDialog()
  const apiKey = useChosen(apiKeys, id)
  // The browser's Back must not take away a key that cannot be shown again.
  const [created, setCreated] = useState<CreatedApiKey>()
  return (
    <DialogSlot>
      {(kind === 'create' || created) && (
        <CreateDialog
          created={created}
          onCreated={setCreated}
          onClose={() => {
            setCreated(undefined)
            close()
          }}
        />
      )}
      {kind === 'revoke' && apiKey && <RevokeDialog apiKey={apiKey} onClose={close} />}
    </DialogSlot>
  )
}
