import { type App, type MessageKey, messageDefaults } from '@keyward/contract'
import { apps } from '@keyward/contract/apps'
import { ChevronRight } from 'lucide-react'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { useUnsaved } from '../../lib/form/unsaved.tsx'
import { Button } from '../../ui/button.tsx'
import { CardBody, CardFooter } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { LateConfirmDialog } from '../../ui/late-confirm-dialog.tsx'
import { languageName } from './languages.ts'
import { findMessages } from './message-groups.ts'
import { MessagePreview } from './message-preview.tsx'
import { type ErrorMessages, useResetErrorMessages, useUpdateErrorMessages } from './queries.ts'

type Texts = ErrorMessages['errorMessages']
type Changes = Partial<Record<MessageKey, string | null>>

/** An empty text is removed, so that the more general one applies. */
const schema = z
  .record(z.string(), z.string())
  .transform((texts): Changes => {
    const entries = Object.entries(texts)
    return Object.fromEntries(entries.map(([key, text]) => [key, text.trim() === '' ? null : text]))
  })
  .pipe(apps.updateErrorMessages.body!.omit({ seen: true })) as unknown as z.ZodType<Changes, Texts>

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
  onCancel: () => void
}

export function ErrorMessagesForm(props: ErrorMessagesFormProps) {
  const { app, locale, messages, search, onSearch, onDirty, onCancel } = props
  const [confirming, setConfirming] = useState(false)
  const [previewed, setPreviewed] = useState<MessageKey>('loggedInMsg')
  // What this form shows: `messages` may be what another editor has saved since.
  const [opened, setOpened] = useState(messages)
  const update = useUpdateErrorMessages(app._id, locale)
  const reset = useResetErrorMessages(app._id, locale)
  const form = useSchemaForm(schema, { name: locale, defaultValues: shown(opened, locale) })
  const { errors, isDirty, dirtyFields } = form.formState
  useEffect(() => onDirty(isDirty), [isDirty, onDirty])
  useUnsaved(isDirty)
  const mayEdit = useMay()(wire.apps.updateErrorMessages)

  const show = (saved: ErrorMessages) => {
    setOpened(saved)
    form.reset(shown(saved, locale))
  }
  const fallbackOf = (key: MessageKey) => (locale ? props.fallback[key] : messageDefaults[key])
  const texts = form.watch()
  const textOf = (key: MessageKey) => texts[key]?.trim() || fallbackOf(key)
  const groups = findMessages(search, textOf)
  const submit = form.handleSubmit(
    (values) => {
      const changed = Object.entries(values).filter(([key]) => dirtyFields[key as MessageKey])
      const seen = changed.map(([key]) => [key, ownText(opened, key as MessageKey)])
      const body = { ...Object.fromEntries(changed), seen: Object.fromEntries(seen) }
      update.mutate(body, {
        onSuccess: show,
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
        readOnly={!mayEdit}
        onFocus={() => setPreviewed(key)}
      />
    </Field>
  )
  return (
    <form noValidate onSubmit={submit}>
      <CardBody className="grid gap-4">
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
      </CardBody>
      <MessagePreview appName={app.name} code={previewed} text={textOf(previewed)} />
      {mayEdit && (
        <CardFooter>
          {(!locale || opened.changed.length > 0) && (
            <Button variant="ghost" onClick={() => setConfirming(true)} className="mr-auto">
              {locale ? `Remove ${languageName(locale)}` : 'Reset to Defaults'}
            </Button>
          )}
          <Button onClick={onCancel} disabled={update.isPending || !isDirty}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" loading={update.isPending} disabled={!isDirty}>
            Save Messages
          </Button>
        </CardFooter>
      )}
      {confirming && (
        <LateConfirmDialog
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
                show(left)
                setConfirming(false)
              },
            })
          }
        />
      )}
    </form>
  )
}

const ownText = ({ errorMessages, changed }: ErrorMessages, key: MessageKey): string | null =>
  changed.includes(key) ? errorMessages[key] : null

/** The default texts as they apply; in a language only its own ones. */
function shown(messages: ErrorMessages, locale: string | undefined): Texts {
  const { errorMessages } = messages
  if (!locale) return errorMessages
  const keys = Object.keys(errorMessages) as MessageKey[]
  return Object.fromEntries(keys.map((key) => [key, ownText(messages, key) ?? ''])) as Texts
}
