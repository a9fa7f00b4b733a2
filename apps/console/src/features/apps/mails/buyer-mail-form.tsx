import type { App, MailKind } from '@keyward/contract'
import { placeholdersOf } from '@keyward/contract/app-mail-text'
import { useState } from 'react'
import { useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { issuesOf, useTextForm } from '../../../lib/form/text-form.ts'
import { appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { Button } from '../../../ui/button.tsx'
import { CardBody, CardFooter } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { Input, Textarea } from '../../../ui/input.tsx'
import { LateConfirmDialog } from '../../../ui/late-confirm-dialog.tsx'
import { faceOf, useProfile } from '../customers/profile-queries.ts'
import { languageName } from '../texts/languages.ts'
import { BuyerMailPreview } from './buyer-mail-preview.tsx'
import {
  type BuyerMail,
  type Named,
  useResetBuyerMail,
  useTestBuyerMail,
  useUpdateBuyerMail,
} from './buyer-mail-queries.ts'

type Mail = BuyerMail['mail']
type Written = { [Part in keyof Mail]: string }

/** An empty part gets its default. */
const toMail = ({ subject, text, html, fromName, replyTo }: Written): Mail => ({
  ...{ subject, text },
  ...{ html: orNull(html), fromName: orNull(fromName), replyTo: orNull(replyTo) },
})
const orNull = (text: string): string | null => (text.trim() === '' ? null : text)

const rulesOf = (kind: MailKind) => async () => {
  const { appMails, misplaced } = await import('@keyward/contract/app-mails')
  const parts = appMails.update.body!.omit({ seen: true, locale: true })
  return (written: Written) => {
    const mail = toMail(written)
    const misplacements = misplaced(kind, mail).map(({ path, message }) => [path, message])
    return { ...Object.fromEntries(misplacements), ...issuesOf(parts, mail) }
  }
}

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
  onCancel: () => void
}

export function BuyerMailForm({ app, named, stored, onCancel }: BuyerMailFormProps) {
  const { kind, locale } = named
  const [confirming, setConfirming] = useState(false)
  // What this form shows: `stored` may be what another editor has saved since.
  const [opened, setOpened] = useState(stored)
  const update = useUpdateBuyerMail(named)
  const reset = useResetBuyerMail(named)
  const trial = useTestBuyerMail(named)
  const form = useTextForm<Written>({
    title: `Mails of ${app.name}${locale ? ` in ${languageName(locale)}` : ''}`,
    to: `${appTabPath(app._id, 'mail')}&kind=${kind}${locale ? `&language=${locale}` : ''}`,
    opened: shown(opened),
    rules: rulesOf(kind),
  })
  const { values: written, errors, isDirty } = form
  const may = useMay()
  const readOnly = !may(wire.appMails.update)

  const take = (saved: BuyerMail) => {
    setOpened(saved)
    return shown(saved)
  }
  const save = form.props((texts) => update.mutateAsync({ ...toMail(texts), seen: opened.mail }).then(take))
  const cancel = () => {
    form.reset()
    onCancel()
  }
  const face = faceOf(app, useProfile(app._id).data, useProfile().data)
  const text = { lang: locale, dir: 'auto', readOnly, autoComplete: 'off' } as const
  return (
    <form {...save}>
      <CardBody className="grid grid-cols-1 gap-4 lg:grid-cols-2 lg:gap-6">
        <div className="grid grid-cols-1 content-start gap-3">
          <Field label="Subject" error={errors.subject}>
            <Input {...form.field('subject')} {...text} />
          </Field>
          <Field label="Text" error={errors.text}>
            <Textarea {...form.field('text')} {...text} rows={12} />
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
            error={errors.html}
          >
            <Textarea {...form.field('html')} {...text} rows={6} spellCheck={false} className="font-mono" />
          </Field>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Sender name" optional error={errors.fromName}>
              <Input {...form.field('fromName')} {...text} placeholder={face.name ?? app.name} />
            </Field>
            <Field label="Answers go to" optional error={errors.replyTo}>
              <Input {...form.field('replyTo')} readOnly={readOnly} type="email" autoComplete="off" />
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
          <Button onClick={cancel} disabled={update.isPending || !isDirty}>
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

const shown = ({ mail }: BuyerMail): Written => ({
  ...{ subject: mail.subject, text: mail.text },
  ...{ html: mail.html ?? '', fromName: mail.fromName ?? '', replyTo: mail.replyTo ?? '' },
})
