import { setSingleKeys, useSingleKeys } from '../../lib/browser/single-keys.ts'
import { Dialog, DialogBody } from '../../ui/dialog.tsx'
import { Switch } from '../../ui/switch.tsx'
import { control } from './commands.ts'
import { Keys } from './keys.tsx'

const sections = [
  {
    title: 'Anywhere',
    rows: [
      { keys: `${control} K`, does: 'Search or go to' },
      { keys: `${control} B`, does: 'Expand or collapse the sidebar' },
    ],
  },
  {
    title: 'On this page',
    rows: [
      { keys: 'C', does: 'Create' },
      { keys: '/', does: 'Search in the list' },
      { keys: '?', does: 'These shortcuts' },
    ],
  },
  {
    title: 'In a list',
    rows: [
      { keys: 'J K', does: 'Next or previous row, also with the arrow keys' },
      { keys: 'Enter', does: 'Open the row' },
      { keys: 'X', does: 'Select the row, also with Space' },
      { keys: 'E B Y', does: 'Extend, ban or copy a license or end user' },
    ],
  },
  {
    title: 'Go to',
    rows: [
      { keys: 'G D', does: 'Dashboard' },
      { keys: 'G L', does: 'Licenses' },
      { keys: 'G U', does: 'End Users' },
      { keys: 'G R', does: 'Resellers' },
      { keys: 'G S', does: 'Settings' },
    ],
  },
]

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const singleKeys = useSingleKeys()
  return (
    <Dialog
      onClose={onClose}
      title="Keyboard shortcuts"
      description="Disabled while you type and while a dialog is open."
    >
      <DialogBody className="gap-5">
        {sections.map(({ title, rows }) => (
          <section key={title} aria-label={title}>
            <h3 className="mb-1 font-medium text-[0.8125rem] text-fg-muted">{title}</h3>
            <dl className="grid divide-y">
              {rows.map(({ keys, does }) => (
                <div key={keys} className="flex items-center justify-between gap-4 py-2">
                  <dt>{does}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <Switch
          label="Single-key shortcuts"
          description="Shortcuts without Ctrl or ⌘. Turn them off if you use speech input or often press keys by accident."
          checked={singleKeys}
          onChange={setSingleKeys}
        />
      </DialogBody>
    </Dialog>
  )
}
