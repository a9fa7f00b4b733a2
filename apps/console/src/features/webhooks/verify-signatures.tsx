import files from 'virtual:receivers'
import { useState } from 'react'
import { paths } from '../../lib/navigation/paths.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Tabs } from '../../ui/tabs.tsx'

const languages = [
  { value: 'node', label: 'Node', file: 'receiver.mjs', run: 'node receiver.mjs' },
  { value: 'python', label: 'Python', file: 'receiver.py', run: 'python3 receiver.py' },
  { value: 'php', label: 'PHP', file: 'receiver.php', run: 'php -S 0.0.0.0:8000 receiver.php' },
]

/** Whole receivers, which accept only what this server has signed. */
export function VerifySignatures() {
  const [language, setLanguage] = useState('node')
  return (
    <div className="grid gap-4 px-4 py-4 md:px-5">
      <p className="max-w-2xl text-fg-muted">
        Every request carries three headers: <Name>webhook-id</Name>, <Name>webhook-timestamp</Name> and{' '}
        <Name>webhook-signature</Name>. Check them before you trust a body: anyone can call your address.
        These receivers do, without a library.{' '}
        <a href={paths.automation} target="_blank" rel="noreferrer" className="text-accent-text underline">
          More about automation
        </a>
      </p>
      <Tabs
        label="Language"
        variant="pill"
        value={language}
        onChange={setLanguage}
        tabs={languages.map(({ value, label, file, run }) => ({
          value,
          label,
          content: (
            <div className="mt-4 grid gap-4">
              <CodeBlock title="Terminal" code={`WEBHOOK_SECRET='whsec_…' ${run}`} />
              <CodeBlock title={file} code={files[file] ?? ''} />
            </div>
          ),
        }))}
      />
    </div>
  )
}

const Name = ({ children }: { children: string }) => (
  <code className="whitespace-nowrap font-mono text-[0.8125rem] text-fg">{children}</code>
)
