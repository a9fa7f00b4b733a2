import {
  type DataOf,
  type endpoints,
  type MessageKey,
  messageDefaults,
  modelMessages,
  reservedMessages,
} from '@keyward/contract'
import { apps as appsEndpoints } from '@keyward/contract/apps'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DialogBody, DialogFooter, DialogForm } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { useErrorMessages, useResetErrorMessages, useUpdateErrorMessages } from './queries.ts'

const firstMessages = (Object.keys(messageDefaults) as MessageKey[]).filter(
  (key) => !modelMessages.includes(key),
)
type Messages = DataOf<typeof endpoints.apps.getErrorMessages>['errorMessages']
/** The endpoint accepts a partial map; the form always sends all of it. */
const schema = appsEndpoints.updateErrorMessages.body as unknown as z.ZodType<Messages, Messages>

export function ErrorMessagesForm({ id, onClose }: { id: string; onClose: () => void }) {
  const messages = useErrorMessages(id)
  if (messages.isError) {
    return (
      <ErrorState
        title="Failed to load app settings"
        description={messages.error.message}
        onRetry={() => messages.refetch()}
        retrying={messages.isFetching}
      />
    )
  }
  if (!messages.data) {
    return (
      <DialogBody aria-busy>
        {Array.from({ length: 6 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have nothing else
          <div key={index} className="grid gap-2">
            <Skeleton className="h-4 w-32" />
            <Skeleton className="h-9" />
          </div>
        ))}
      </DialogBody>
    )
  }
  return <MessagesForm id={id} messages={messages.data} onClose={onClose} />
}

function MessagesForm({ id, messages, onClose }: { id: string; messages: Messages; onClose: () => void }) {
  const [confirming, setConfirming] = useState(false)
  const update = useUpdateErrorMessages(id)
  const reset = useResetErrorMessages(id)
  const form = useSchemaForm(schema, { defaultValues: messages })
  const { errors, isDirty } = form.formState
  const submit = form.handleSubmit((values) =>
    update.mutate(values, {
      onSuccess: (saved) => form.reset(saved),
      onError: (error) => showFieldErrors(form, error),
    }),
  )
  const field = (key: MessageKey) => (
    <Field
      key={key}
      label={<span className="font-mono text-[0.8125rem]">{key}</span>}
      hint={
        reservedMessages.includes(key) ? 'Not in use yet. The server does not send this code.' : undefined
      }
      error={errors[key]?.message}
    >
      <Input {...form.register(key)} autoComplete="off" placeholder={messageDefaults[key]} />
    </Field>
  )
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <p className="text-fg-muted">The texts that your program shows, by the code it receives.</p>
        {firstMessages.map(field)}
        <details className="group" open={modelMessages.some((key) => errors[key]) || undefined}>
          <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded-md font-medium [&::-webkit-details-marker]:hidden">
            <ChevronRight
              aria-hidden
              className="size-4 text-fg-muted transition-transform group-open:rotate-90"
            />
            Trials, seats, updates and activation
          </summary>
          <div className="mt-4 grid gap-4">{modelMessages.map(field)}</div>
        </details>
      </DialogBody>
      <DialogFooter>
        <Button variant="ghost" onClick={() => setConfirming(true)} className="md:mr-auto">
          Reset to Defaults
        </Button>
        <Button onClick={onClose} disabled={update.isPending}>
          Cancel
        </Button>
        <Button type="submit" variant="primary" loading={update.isPending} disabled={!isDirty}>
          Save Messages
        </Button>
      </DialogFooter>
      {confirming && (
        <ConfirmDialog
          onClose={() => setConfirming(false)}
          title="Reset the error messages?"
          loss="All your changes to the texts of this app are lost."
          confirmLabel="Reset to Defaults"
          busy={reset.isPending}
          onConfirm={() =>
            reset.mutate(undefined, {
              onSuccess: (defaults) => {
                form.reset(defaults)
                setConfirming(false)
              },
            })
          }
        />
      )}
    </DialogForm>
  )
}
