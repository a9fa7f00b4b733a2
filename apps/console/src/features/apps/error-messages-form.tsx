import { type App, type MessageKey, messageDefaults } from '@keyward/contract'
import { apps } from '@keyward/contract/apps'
import { ChevronRight } from 'lucide-react'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DialogBody, DialogFooter, DialogForm } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { languageName } from './languages.ts'
import { findMessages } from './message-groups.ts'
import { MessagePreview } from './message-preview.tsx'
import { type ErrorMessages, useResetErrorMessages, useUpdateErrorMessages } from './queries.ts'

type Texts = ErrorMessages['errorMessages']

/** An empty text is removed, so that the more general one applies. */
const schema = z
  .record(z.string(), z.string())
  .transform((texts) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text.trim() === '' ? null : text])),
  )
  .pipe(apps.updateErrorMessages.body!) as unknown as z.ZodType<
  Partial<Record<MessageKey, string | null>>,
  Texts
>

export interface ErrorMessagesFormProps {
  app: App
  /** Undefined for the default texts. */
  locale: string | undefined
  messages: ErrorMessages
  /** The texts that apply where this language has none of its own. */
  fallback: Texts
  search: string
  onSearch: (search: string) => void
  onDirty: (dirty: boolean) => void
  onClose: () => void
}

export function ErrorMessagesForm(props: ErrorMessagesFormProps) {
  const { app, locale, messages, search, onSearch, onDirty, onClose } = props
  const [confirming, setConfirming] = useState(false)
  const [previewed, setPreviewed] = useState<MessageKey>('loggedInMsg')
  const update = useUpdateErrorMessages(app._id, locale)
  const reset = useResetErrorMessages(app._id, locale)
  const form = useSchemaForm(schema, { name: locale, defaultValues: shown(messages, locale) })
  const { errors, isDirty, dirtyFields } = form.formState
  useEffect(() => onDirty(isDirty), [isDirty, onDirty])

  const fallbackOf = (key: MessageKey) => (locale ? props.fallback[key] : messageDefaults[key])
  const texts = form.watch()
  const textOf = (key: MessageKey) => texts[key]?.trim() || fallbackOf(key)
  const groups = findMessages(search, textOf)
  const submit = form.handleSubmit(
    (values) => {
      const changed = Object.entries(values).filter(([key]) => dirtyFields[key as MessageKey])
      update.mutate(Object.fromEntries(changed), {
        onSuccess: (saved) => form.reset(shown(saved, locale)),
        onError: (error) => showFieldErrors(form, error),
      })
    },
    // A search may hide the field with the error.
    () => onSearch(''),
  )
  const field = (key: MessageKey) => (
    <Field
      key={key}
      label={<span className="font-mono text-[0.8125rem]">{key}</span>}
      error={errors[key]?.message}
    >
      <Input
        {...form.register(key)}
        autoComplete="off"
        lang={locale}
        dir="auto"
        placeholder={fallbackOf(key)}
        onFocus={() => setPreviewed(key)}
      />
    </Field>
  )
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        {groups.map(({ title, keys, collapsed }) => (
          <details
            // A search opens every group, a cleared one closes what was collapsed.
            key={`${title} ${search !== ''}`}
            open={!collapsed || search !== '' || keys.some((key) => errors[key])}
            className="group"
          >
            <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded-md font-medium [&::-webkit-details-marker]:hidden">
              <ChevronRight
                aria-hidden
                className="size-4 text-fg-muted transition-transform group-open:rotate-90"
              />
              {title}
            </summary>
            <div className="mt-3 grid gap-1">{keys.map(field)}</div>
          </details>
        ))}
        <p role="status" className={groups.length > 0 ? 'sr-only' : 'py-8 text-center text-fg-muted'}>
          {groups.length === 0 && `No message matches “${search}”.`}
        </p>
      </DialogBody>
      <MessagePreview appName={app.name} code={previewed} text={textOf(previewed)} />
      <DialogFooter>
        {(!locale || messages.changed.length > 0) && (
          <Button variant="ghost" onClick={() => setConfirming(true)} className="md:mr-auto">
            {locale ? `Remove ${languageName(locale)}` : 'Reset to Defaults'}
          </Button>
        )}
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
          title={locale ? `Remove the texts in ${languageName(locale)}?` : 'Reset the error messages?'}
          loss={
            locale
              ? `All texts of this app in ${languageName(locale)} are lost.`
              : 'All your changes to the default texts of this app are lost.'
          }
          confirmLabel={locale ? 'Remove Texts' : 'Reset to Defaults'}
          busy={reset.isPending}
          onConfirm={() =>
            reset.mutate(undefined, {
              onSuccess: (left) => {
                form.reset(shown(left, locale))
                setConfirming(false)
              },
            })
          }
        />
      )}
    </DialogForm>
  )
}

/** The default texts as they apply; in a language only its own ones. */
function shown({ errorMessages, changed }: ErrorMessages, locale: string | undefined): Texts {
  if (!locale) return errorMessages
  const own = Object.entries(errorMessages).map(([key, text]) => [
    key,
    changed.includes(key as MessageKey) ? text : '',
  ])
  return Object.fromEntries(own) as Texts
}
