import type { App } from '@keyward/contract'
import { useState } from 'react'
import { Link } from 'react-router'
import { usePublicConfig } from '../../../lib/api/public-config.ts'
import { noteSnippetCopied } from '../../../lib/browser/snippet.ts'
import { readStored, writeStored } from '../../../lib/browser/stored.ts'
import { appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { CodeBlock } from '../../../ui/code-block.tsx'
import { CopyField } from '../../../ui/copy-button.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { useSigningKeys } from '../queries.ts'
import { languages } from './snippets.ts'

const languageKey = 'keyward-snippet-language'

/** The language that was chosen in this browser. */
function readLanguage(): string {
  const stored = readStored(languageKey)
  return languages.some(({ id }) => id === stored) ? (stored as string) : languages[0].id
}

/** What a program needs to check licenses of this app. */
export function Integration({ app }: { app: App }) {
  const keys = useSigningKeys(app.appId)
  // Programs may use another address than this browser, which may be on the internal network.
  const baseUrl = usePublicConfig()?.publicUrl ?? window.location.origin
  const [language, setLanguage] = useState(readLanguage)
  const [secretShown, setSecretShown] = useState(false)
  const appSecret = app.appSecret ?? 'YOUR_APP_SECRET'
  const choose = (id: string) => {
    writeStored(languageKey, id)
    setLanguage(id)
  }
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[12rem_minmax(0,1fr)]">
        <CopyField label="App ID" value={app.appId} />
        <CopyField
          label="App secret"
          value={app.appSecret}
          secret
          shown={secretShown}
          onShow={setSecretShown}
        />
      </div>
      {keys.isError && <QueryError boxed query={keys} title="Failed to load the public key" />}
      {keys.isPending && <Skeleton className="h-96" />}
      {keys.data && (
        <>
          <CopyField label="Public key" value={JSON.stringify(keys.data)} />
          <Tabs
            label="Language"
            variant="pill"
            value={language}
            onChange={choose}
            tabs={languages.map(({ id, label, file, install, code }) => ({
              value: id,
              label,
              content: (
                <div className="mt-4 grid gap-4">
                  <CodeBlock title="Terminal" code={install(baseUrl)} />
                  <CodeBlock
                    title={file}
                    code={code({ app: { ...app, appSecret }, keys: keys.data, baseUrl })}
                    hidden={secretShown || app.appSecret === null ? undefined : appSecret}
                    onCopied={() => noteSnippetCopied(app._id)}
                  />
                </div>
              ),
            }))}
          />
        </>
      )}
      <p className="text-[0.8125rem] text-fg-muted">
        The server signs every response with this app's own key. The SDK verifies it with the public key
        above, so a fake server cannot fool your program.{' '}
        <Link
          to={appTabPath(app._id, 'settings')}
          className="font-medium text-accent-text underline-offset-2 hover:underline"
        >
          Manage signing keys
        </Link>
      </p>
    </>
  )
}
