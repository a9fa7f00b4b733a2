import { Suspense, useState } from 'react'
import { fieldMessage } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { useResetPlatform } from './queries.ts'

const ConfirmDialog = lazyNamed(() => import('../../ui/confirm-dialog.tsx'), 'ConfirmDialog')

export function DangerZone() {
  const { kind, open, close } = useCallDialog({ 'reset-data': [wire.settings.reset] })
  const reset = useResetPlatform()
  const [password, setPassword] = useState('')
  const leave = () => {
    setPassword('')
    reset.reset()
    close()
  }
  return (
    <Card className="border-danger-line">
      <div className="grid gap-4 px-5 py-4">
        <h2 className="font-semibold text-[0.9375rem] text-danger-text">Danger Zone</h2>
        <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
          <div className="grid flex-1 basis-72 gap-0.5">
            <h3 className="font-medium">Reset Data</h3>
            <p className="text-[0.8125rem] text-fg-muted">
              Deletes all applications, licenses, end users, resellers and settings. Your account, plan and
              payments stay.
            </p>
          </div>
          <Button variant="danger" onClick={() => open('reset-data')}>
            Reset Data
          </Button>
        </div>
      </div>
      {kind === 'reset-data' && (
        <Suspense fallback={null}>
          <ConfirmDialog
            onClose={leave}
            title="Reset all platform data?"
            description="Your account, plan and payments stay. You are logged out on every device."
            loss="All applications, licenses, end users, resellers and settings are deleted. This cannot be undone. Your programs stop working immediately."
            typed="RESET"
            confirmLabel="Reset Data"
            field={
              <PasswordField
                error={fieldMessage(reset.error, 'password')}
                value={password}
                onChange={setPassword}
              />
            }
            complete={password !== ''}
            busy={reset.isPending}
            onConfirm={() => reset.mutate({ password })}
          />
        </Suspense>
      )}
    </Card>
  )
}
