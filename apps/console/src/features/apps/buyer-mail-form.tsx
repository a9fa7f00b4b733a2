import type { App, MailKind } from '@keyward/contract'
import { mailKinds, placeholdersOf } from '@keyward/contract/app-mail-text'
import { appMails, misplaced } from '@keyward/contract/app-mails'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { useUnsaved } from '../../lib/form/unsaved.tsx'
import { Button } from '../../ui/button.tsx'
import { CardBody, CardFooter } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, Textarea } from '../../ui/input.tsx'
import { LateConfirmDialog } from '../../ui/late-confirm-dialog.tsx'
import { BuyerMailPreview } from './buyer-mail-preview.tsx'
import {
  type BuyerMail,
  type Named,
  useResetBuyerMail,
  useTestBuyerMail,
  useUpdateBuyerMail,
} from './buyer-mail-queries.ts'
import { languageName } from './languages.ts'
import { faceOf, useProfile } from './profile-queries.ts'

type Mail = BuyerMail['mail']
type Written = { [Part in keyof Mail]: string }

const body = appMails.update.body!.omit({ seen: true, locale: true }) as unknown as z.ZodType<Mail, Mail>

/** An empty part gets its default. */
const schemaOf = (kind: MailKind) =>
  z
    .record(z.string(), z.string())
    .transform(({ subject = '', text = '', ...parts }) => ({
      ...{ subject, text },
      ...{ html: orNull(parts.html), fromName: orNull(parts.fromName), replyTo: orNull(parts.replyTo) },
    }))
    .pipe(body)
    .check(({ value, issues }) => {
      for (const { path, message } of misplaced(kind, value))
        issues.push({ code: 'custom', path: [path], message, input: value })
    }) as unknown as z.ZodType<Mail, Written>

const orNull = (text = ''): string | null => (text.trim() === '' ? null : text)

const schemas = Object.fromEntries(mailKinds.map((kind) => [kind, schemaOf(kind)])) as Record<
  MailKind,
  z.ZodType<Mail, Written>
>

const meanings: Record<ReturnType<typeof placeholdersOf>[number], string> = {
  key: 'the license keys, one a line',
  app: 'the name of this app',
  name: 'the buyer’s name, if it is one',
  order: 'the order’s number in your shop',
  page: 'the customer’s page; a line with it is left out while the app has none',
  type: 'the name of the license’s type',
  end: 'the day that the mail tells of',
  renew: 'the type’s link to renew this license; a line with it is left out without a link',
  version: 'the version of the release, in security updates',
  summary: 'what the release repairs, in security updates',
  link: 'where people read more, in security updates',
}

export interface BuyerMailFormProps {
  app: App
  named: Named
  stored: BuyerMail
  onDirty: (dirty: boolean) => void
  onCancel: () => void
}

export function BuyerMailForm({ app, named, stored, onDirty, onCancel }: BuyerMailFormProps) {
  const { kind, locale } = named
  const [confirming, setConfirming] = useState(false)
  // What this form shows: `stored` may be what another editor has saved since.
  const [opened, setOpened] = useState(stored)
  const update = useUpdateBuyerMail(named)
  const reset = useResetBuyerMail(named)
  const trial = useTestBuyerMail(named)
  const form = useSchemaForm(schemas[kind], {
    name: `mail ${kind} ${locale ?? ''}`,
    defaultValues: shown(opened),
  })
  const { errors, isDirty } = form.formState
  useEffect(() => onDirty(isDirty), [isDirty, onDirty])
  useUnsaved(isDirty)
  const may = useMay()
  const readOnly = !may(wire.appMails.update)

  const show = (saved: BuyerMail) => {
    setOpened(saved)
    form.reset(shown(saved))
  }
  const submit = form.handleSubmit((mail) =>
    update.mutate(
      { ...mail, seen: opened.mail },
      { onSuccess: show, onError: (error) => showFieldErrors(form, error) },
    ),
  )
  const written = form.watch()
  const face = faceOf(app, useProfile(app._id).data, useProfile().data)
  const text = { lang: locale, dir: 'auto', readOnly, autoComplete: 'off' } as const
  return (
    <form noValidate onSubmit={submit}>
      <CardBody className="grid grid-cols-1 gap-4 lg:grid-cols-2 lg:gap-6">
        <div className="grid grid-cols-1 content-start gap-3">
          <Field label="Subject" error={errors.subject?.message}>
            <Input {...form.register('subject')} {...text} />
          </Field>
          <Field label="Text" error={errors.text?.message}>
            <Textarea {...form.register('text')} {...text} rows={12} />
          </Field>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 rounded-lg bg-sunken/50 p-3 text-[0.8125rem]">
            {placeholdersOf(kind).map((name) => (
              <div key={name} className="contents">
                <dt className="font-mono">{`{${name}}`}</dt>
                <dd className="text-fg-muted">{meanings[name]}</dd>
              </div>
            ))}
          </dl>
          <Field
            label="HTML"
            optional
            hint="For mail programs that show HTML. Without it, all show the text."
            error={errors.html?.message}
          >
            <Textarea
              {...form.register('html')}
              {...text}
              rows={6}
              spellCheck={false}
              className="font-mono"
            />
          </Field>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Sender name" optional error={errors.fromName?.message}>
              <Input {...form.register('fromName')} {...text} placeholder={face.name ?? app.name} />
            </Field>
            <Field label="Answers go to" optional error={errors.replyTo?.message}>
              <Input {...form.register('replyTo')} readOnly={readOnly} type="email" autoComplete="off" />
            </Field>
          </div>
        </div>
        <BuyerMailPreview app={app} named={named} mail={written} face={face} />
      </CardBody>
      {!readOnly && (
        <CardFooter>
          {opened.changed && (
            <Button variant="ghost" onClick={() => setConfirming(true)} className="mr-auto">
              {locale ? `Remove ${languageName(locale)}` : 'Reset to Default'}
            </Button>
          )}
          <Button onClick={() => trial.mutate()} loading={trial.isPending} disabled={isDirty}>
            Send Me a Test
          </Button>
          <Button onClick={onCancel} disabled={update.isPending || !isDirty}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" loading={update.isPending} disabled={!isDirty}>
            Save Mail
          </Button>
        </CardFooter>
      )}
      {confirming && (
        <LateConfirmDialog
          onClose={() => setConfirming(false)}
          title={locale ? `Remove the mail in ${languageName(locale)}?` : 'Reset the mail?'}
          loss={
            locale
              ? `What you wrote to buyers who speak ${languageName(locale)} is lost.`
              : 'What you wrote to buyers in all other languages is lost.'
          }
          confirmLabel={locale ? 'Remove Mail' : 'Reset to Default'}
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

const shown = ({ mail }: BuyerMail): Written => ({
  ...{ subject: mail.subject, text: mail.text },
  ...{ html: mail.html ?? '', fromName: mail.fromName ?? '', replyTo: mail.replyTo ?? '' },
})
