import { Download, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { saveFile } from '../../lib/browser/save-file.ts'
import { Button } from '../../ui/button.tsx'
import { OnceDialog } from '../../ui/confirm-dialog.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DialogFooter } from '../../ui/dialog.tsx'
import { DialogResult } from '../../ui/dialog-result.tsx'
import { Callout } from '../../ui/states.tsx'

export interface RecoveryCodesDialogProps {
  codes: string[]
  /** What the codes open, for the file. */
  account: string
  onClose: () => void
}

/** Shows new recovery codes, which the server never shows again. */
export function RecoveryCodesDialog({ codes, account, onClose }: RecoveryCodesDialogProps) {
  const [saved, setSaved] = useState(false)
  const text = codes.join('\n')
  const download = () =>
    saveFile(
      'keyward-recovery-codes.txt',
      [`Keyward recovery codes of ${account}\n\n${text}\n`],
      'text/plain',
    )
  return (
    <OnceDialog
      title="Save Your Recovery Codes"
      description="Each code signs you in once if you lose your phone or passkey."
      question={
        saved
          ? undefined
          : [
              'Close the recovery codes?',
              'You cannot see them again. Without them, a lost phone or passkey locks you out.',
            ]
      }
      onClose={onClose}
    >
      <DialogResult>
        <Callout tone="warning" icon={<TriangleAlert aria-hidden />}>
          The codes are shown only once. Keep them in a safe place, for example in a password manager.
        </Callout>
        <ol className="grid gap-x-4 min-[26rem]:grid-cols-2 gap-y-1.5 rounded-lg border bg-sunken px-4 py-3 font-mono text-[0.8125rem]">
          {codes.map((code) => (
            <li key={code} className="select-all">
              {code}
            </li>
          ))}
        </ol>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={text} label="Copy recovery codes" message="Recovery codes copied">
            Copy
          </CopyButton>
          <Button onClick={download} aria-label="Download recovery codes">
            <Download />
            Download
          </Button>
        </div>
        <label className="flex cursor-pointer items-center gap-2.5 font-medium">
          <input
            type="checkbox"
            checked={saved}
            onChange={(event) => setSaved(event.target.checked)}
            className="size-4 cursor-pointer accent-accent"
          />
          I saved these codes
        </label>
      </DialogResult>
      <DialogFooter>
        <Button variant="primary" disabled={!saved} onClick={onClose}>
          Done
        </Button>
      </DialogFooter>
    </OnceDialog>
  )
}
