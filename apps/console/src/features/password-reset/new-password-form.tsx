import { limits } from '@keyward/contract'
import { useState } from 'react'
import { Link, useLocation } from 'react-router'
import { ApiError, messageOf } from '../../lib/api/call.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { StrengthMeter } from '../../ui/strength-meter.tsx'

export interface NewPasswordFormProps {
  choosing: {
    mutate: (body: { token: string; password: string }) => void
    isPending: boolean
    error: unknown
  }
  /** Path of the page that requests another link. */
  forgotPath: string
}

/** Sets the new password. The token is in the URL fragment, which browsers do not send to servers. */
export function NewPasswordForm({ choosing, forgotPath }: NewPasswordFormProps) {
  const token = useLocation().hash.slice(1)
  const strict = usePublicConfig()?.passwordPolicy === 'strict'
  const [password, setPassword] = useState('')
  const [confirm, setConfirm] = useState('')
  const [tried, setTried] = useState(false)
  const differs = (tried || confirm !== '') && confirm !== password
  const { error } = choosing

  if (token === '' || (error instanceof ApiError && error.code === 'reset_link_invalid')) {
    return <DeadLink forgotPath={forgotPath} />
  }
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (!choosing.isPending && confirm === password) choosing.mutate({ token, password })
      }}
    >
      <PasswordField
        label="New Password"
        hint={
          strict ? 'At least 8 characters, and not a common one' : `At least ${limits.passwordMin} characters`
        }
        error={error ? messageOf(error, 'Failed to change the password. Please try again.') : undefined}
        isNew
        value={password}
        onChange={setPassword}
      />
      <StrengthMeter password={password} />
      <PasswordField
        label="Confirm New Password"
        error={differs ? 'Passwords do not match' : undefined}
        name="confirm"
        isNew
        value={confirm}
        onChange={setConfirm}
      />
      <Button
        type="submit"
        variant="primary"
        size="lg"
        loading={choosing.isPending}
        disabled={differs}
        className="mt-1"
      >
        Change Password
      </Button>
    </form>
  )
}

function DeadLink({ forgotPath }: { forgotPath: string }) {
  return (
    <div className="grid gap-4">
      <div role="alert" className="grid gap-2">
        <p className="font-semibold text-[0.9375rem]">This link does not work</p>
        <p className="text-fg-muted">
          It has expired, was already used or is incomplete. A link works once, within{' '}
          {limits.resetLinkMinutes} minutes.
        </p>
      </div>
      <Button asChild variant="primary" size="lg">
        <Link to={forgotPath} replace>
          Ask for a New Link
        </Link>
      </Button>
    </div>
  )
}
