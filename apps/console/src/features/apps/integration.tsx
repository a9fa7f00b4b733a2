import type { App } from '@keyward/contract'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { noteSnippetCopied } from '../../lib/browser/snippet.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { useSigningKeys } from './queries.ts'

type SigningKeys = NonNullable<ReturnType<typeof useSigningKeys>['data']>

function snippet(app: App, keys: SigningKeys, baseUrl: string) {
  const text = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const publicKeys = keys.map((key) => {
    const parts = Object.entries(key).map(([name, value]) => `      ${name}: ${text(String(value))},`)
    return `    {\n${parts.join('\n')}\n    },`
  })
  return `import { Keyward } from '@keyward/sdk'

const keyward = new Keyward({
  baseUrl: ${text(baseUrl)},
  appId: ${text(app.appId)},
  secret: ${text(app.appSecret)},
  publicKeys: [
${publicKeys.join('\n')}
  ],
  version: ${text(app.version)},
})

await keyward.init()

const key = process.argv[2] ?? '' // the license key that your user typed in
const result = await keyward.license(key)

if (!result.ok) {
  console.error(result.message)
  process.exit(1)
}
`
}

/** What a program needs to check licenses of this app. */
export function Integration({ app, onSigningKeys }: { app: App; onSigningKeys: () => void }) {
  const keys = useSigningKeys(app.appId)
  // Programs may use another address than this browser, which may be on the internal network.
  const baseUrl = usePublicConfig()?.publicUrl ?? window.location.origin
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[12rem_minmax(0,1fr)]">
        <CopyField label="App ID" value={app.appId} />
        <CopyField label="App secret" value={app.appSecret} secret />
      </div>
      {keys.isError && (
        <ErrorState
          className="rounded-lg border py-8"
          title="Failed to load the public key"
          description={keys.error.message}
          onRetry={() => keys.refetch()}
          retrying={keys.isFetching}
        />
      )}
      {keys.isPending && <Skeleton className="h-96" />}
      {keys.data && (
        <>
          <CopyField label="Public key" value={JSON.stringify(keys.data)} />
          <CodeBlock
            title="Terminal"
            code={`npm install ${baseUrl}/sdk/${sdkVersion}/keyward-sdk-${sdkVersion}.tgz`}
          />
          <CodeBlock
            title="license.mjs"
            code={snippet(app, keys.data, baseUrl)}
            onCopied={() => noteSnippetCopied(app._id)}
          />
        </>
      )}
      <p className="text-[0.8125rem] text-fg-muted">
        The server signs every response with this app's own key. The SDK verifies it with the public key
        above, so a fake server cannot fool your program.{' '}
        <button
          type="button"
          className="font-medium text-accent-text underline-offset-2 hover:underline"
          onClick={onSigningKeys}
        >
          Manage signing keys
        </button>
      </p>
    </>
  )
}
