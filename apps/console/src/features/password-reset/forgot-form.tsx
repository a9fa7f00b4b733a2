import { limits } from '@keyward/contract'
import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'react-router'
import { ApiError, messageOf } from '../../lib/api/call.ts'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

export interface ForgotFormProps {
  sending: UseMutationResult<unknown, Error, { email: string }>
  /** The operator's command on servers that send no mail. */
  command: string
}

/** Requests a reset link by mail. On servers without mail, shows the operator's command instead. */
export function ForgotForm({ sending, command }: ForgotFormProps) {
  const config = usePublicConfig()
  // The email from the sign-in page.
  const typed = (useLocation().state as { email?: string } | null)?.email ?? ''
  const [email, setEmail] = useState(typed)
  const asksOperator =
    config?.passwordReset === 'operator' ||
    (sending.error instanceof ApiError && sending.error.code === 'mail_off')

  if (asksOperator) return <AskOperator command={command} />
  if (!config) return <Skeleton className="h-33" />
  if (sending.isSuccess) {
    return <Sent email={sending.variables.email} onAgain={() => sending.reset()} />
  }
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!sending.isPending) sending.mutate({ email: email.trim() })
      }}
    >
      <Field
        label="Email"
        error={
          sending.isError ? messageOf(sending.error, 'Failed to send the link. Please try again.') : undefined
        }
      >
        <Input
          type="email"
          name="email"
          autoComplete="username"
          placeholder="you@company.com"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={sending.isPending} className="mt-1">
        Send Link
      </Button>
    </form>
  )
}

function Sent({ email, onAgain }: { email: string; onAgain: () => void }) {
  return (
    <div className="grid gap-4">
      <div role="status" className="grid gap-2">
        <p className="font-semibold text-[0.9375rem]">Check your mail</p>
        <p className="wrap-anywhere text-fg-muted">
          If there is an account for <span className="font-medium text-fg">{email}</span>, a link is on its
          way. It works once, for {limits.resetLinkMinutes} minutes.
        </p>
        <p className="text-fg-muted">No mail after a few minutes? Check your spam folder and the address.</p>
      </div>
      <Button size="lg" onClick={onAgain}>
        Ask Again
      </Button>
    </div>
  )
}

function AskOperator({ command }: { command: string }) {
  return (
    <div className="grid gap-4">
      <div className="grid gap-2">
        <p className="font-semibold text-[0.9375rem]">This server does not send mail</p>
        <p className="text-fg-muted">
          Ask the operator of this server for a new password. The operator runs this command on the server:
        </p>
      </div>
      <CodeBlock title="Operator command" code={command} />
    </div>
  )
}
