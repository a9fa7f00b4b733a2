import { limits } from '@keyward/contract'
import { useState } from 'react'
import { fieldMessage, hasCode, messageOf } from '../../lib/api/call.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { StrengthMeter } from '../../ui/strength-meter.tsx'

export interface Accepted {
  token: string
  name?: string
  password: string
}

/** The server does not reveal whether the invited address has an account, so each text covers both cases. */
const wrongAccount = {
  new: 'The invited address may have an account already. Choose “I have one” and enter its password.',
  known: 'Wrong password. If you have no account yet, choose “New account”.',
}

export interface AcceptFormProps {
  /** The token of the link: in the URL fragment, which browsers do not send to servers. */
  token: string
  accepting: { mutate: (body: Accepted) => void; isPending: boolean; error: unknown }
}

/** A new address chooses a name and a password; a known one proves its password. */
export function AcceptForm({ token, accepting }: AcceptFormProps) {
  const strict = usePublicConfig()?.passwordPolicy === 'strict'
  const [isNew, setIsNew] = useState(true)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { error } = accepting
  const errorOf = (path: string) => fieldMessage(error, path)
  const failure = hasCode(error, 'invalid_credentials')
    ? wrongAccount[isNew ? 'new' : 'known']
    : messageOf(error, 'Failed to accept the invitation. Please try again.')

  if (token === '' || hasCode(error, 'invitation_invalid')) return <DeadLink />
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (accepting.isPending) return
        accepting.mutate({ token, password, ...(isNew ? { name: name.trim() } : {}) })
      }}
    >
      <Choice
        label="Your account"
        value={isNew ? 'new' : 'known'}
        onChange={(next) => setIsNew(next === 'new')}
        options={[
          { value: 'new', label: 'New account' },
          { value: 'known', label: 'I have one' },
        ]}
      />
      {isNew && (
        <Field label="Full Name" error={errorOf('name')}>
          <Input
            name="name"
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      )}
      <PasswordField
        hint={
          isNew
            ? strict
              ? 'At least 8 characters, and not a common one'
              : `At least ${limits.passwordMin} characters`
            : 'Of the account with the invited address.'
        }
        error={errorOf('password') ?? (error && !errorOf('name') ? failure : undefined)}
        isNew={isNew}
        value={password}
        onChange={setPassword}
      />
      {isNew && <StrengthMeter password={password} />}
      <Button type="submit" variant="primary" size="lg" loading={accepting.isPending} className="mt-1">
        Accept Invitation
      </Button>
    </form>
  )
}

function DeadLink() {
  return (
    <div role="alert" className="grid gap-2">
      <p className="font-semibold text-[0.9375rem]">This invitation does not work</p>
      <p className="text-fg-muted">
        It has expired, was withdrawn or already used, or the link is incomplete. An invitation works once,
        within {limits.invitationDays} days. Ask the person who invited you for a new one.
      </p>
    </div>
  )
}
