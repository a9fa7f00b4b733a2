import { type App, type MessageKey, messageDefaults } from '@keyward/contract'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { issuesOf, useTextForm } from '../../../lib/form/text-form.ts'
import { appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { Button } from '../../../ui/button.tsx'
import { CardBody, CardFooter } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'
import { LateConfirmDialog } from '../../../ui/late-confirm-dialog.tsx'
import { type ErrorMessages, useResetErrorMessages, useUpdateErrorMessages } from '../queries.ts'
import { languageName } from './languages.ts'
import { findMessages } from './message-groups.ts'
import { MessagePreview } from './message-preview.tsx'

type Texts = ErrorMessages['errorMessages']

/** An empty text is removed, so that the more general one applies. */
const toChange = (text: string): string | null => (text.trim() === '' ? null : text)

const rules = async () => {
  const { apps } = await import('@keyward/contract/apps')
  const schema = apps.updateErrorMessages.body!.omit({ seen: true })
  return (texts: Texts) =>
    issuesOf(schema, Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, toChange(text)])))
}

export interface ErrorMessagesFormProps {
  app: App
  /** Undefined for the default texts. */
  locale: string | undefined
  messages: ErrorMessages
  /** The texts that apply where this language has none of its own. */
  fallback: Texts
  search: string
  onSearch: (search: string) => void
  onCancel: () => void
}

export function ErrorMessagesForm(props: ErrorMessagesFormProps) {
  const { app, locale, messages, search, onSearch, onCancel } = props
  const [confirming, setConfirming] = useState(false)
  const [previewed, setPreviewed] = useState<MessageKey>('loggedInMsg')
  // What this form shows: `messages` may be what another editor has saved since.
  const [opened, setOpened] = useState(messages)
  const update = useUpdateErrorMessages(app._id, locale)
  const reset = useResetErrorMessages(app._id, locale)
  const form = useTextForm<Texts>({
    title: `Error Messages of ${app.name}${locale ? ` in ${languageName(locale)}` : ''}`,
    to: `${appTabPath(app._id, 'texts')}${locale ? `&language=${locale}` : ''}`,
    opened: shown(opened, locale),
    rules,
  })
  const { values: texts, errors, isDirty } = form
  const mayEdit = useMay()(wire.apps.updateErrorMessages)

  const take = (saved: ErrorMessages) => {
    setOpened(saved)
    return shown(saved, locale)
  }
  const cancel = () => {
    form.reset()
    onCancel()
  }
  const fallbackOf = (key: MessageKey) => (locale ? props.fallback[key] : messageDefaults[key])
  const textOf = (key: MessageKey) => texts[key]?.trim() || fallbackOf(key)
  const groups = findMessages(search, textOf)
  const save = form.props(
    (values) => {
      const changed = keysOf(values).filter((key) => values[key] !== form.opened[key])
      const seen = changed.map((key) => [key, ownText(opened, key)])
      const changes = changed.map((key) => [key, toChange(values[key])])
      const body = { ...Object.fromEntries(changes), seen: Object.fromEntries(seen) }
      return update.mutateAsync(body).then(take)
    },
    // A search may hide the field with the error.
    () => onSearch(''),
  )
  const field = (key: MessageKey) => (
    <Field key={key} label={<span className="font-mono text-[0.8125rem]">{key}</span>} error={errors[key]}>
      <Input
        {...form.field(key)}
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
    <form {...save}>
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
          <Button onClick={cancel} disabled={update.isPending || !isDirty}>
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
                form.reset(take(left))
                setConfirming(false)
              },
            })
          }
        />
      )}
    </form>
  )
}

const keysOf = (texts: Texts) => Object.keys(texts) as MessageKey[]

const ownText = ({ errorMessages, changed }: ErrorMessages, key: MessageKey): string | null =>
  changed.includes(key) ? errorMessages[key] : null

/** The default texts as they apply; in a language only its own ones. */
function shown(messages: ErrorMessages, locale: string | undefined): Texts {
  const { errorMessages } = messages
  if (!locale) return errorMessages
  return Object.fromEntries(keysOf(errorMessages).map((key) => [key, ownText(messages, key) ?? ''])) as Texts
}
