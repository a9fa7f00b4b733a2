import type { App } from '@keyward/contract'
import { useState } from 'react'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Select } from '../../ui/select.tsx'
import { QueryError } from '../../ui/states.tsx'
import { BuyerMailForm } from './buyer-mail-form.tsx'
import { type BuyerMail, useBuyerMail } from './buyer-mail-queries.ts'
import { ErrorMessagesSkeleton } from './error-messages-skeleton.tsx'
import { findLanguages, languageName, languageOptions } from './languages.ts'

const otherLanguages = { value: 'default', label: 'All other languages' }

/** The mail that buyers of an app get with their keys, in one language at a time. */
export function BuyerMailTab({ app }: { app: App }) {
  // Cancel loads the mail again, because someone else may have changed it.
  const [edition, setEdition] = useState(0)
  return (
    <Card aria-label="Mail to Buyers">
      <CardHeader
        title="Mail to Buyers"
        description="After an order is paid, your shop’s buyer gets the license keys with this mail."
      />
      <BuyerMails key={edition} app={app} onCancel={() => setEdition(edition + 1)} />
    </Card>
  )
}

function BuyerMails({ app, onCancel }: { app: App; onCancel: () => void }) {
  const [locale, setLocale] = useState<string>()
  const [dirty, setDirty] = useState(false)
  const query = useBuyerMail(app._id, locale)
  // An older copy would overwrite what was saved elsewhere.
  const stored = query.isFetchedAfterMount ? query.data : undefined
  if (query.isError) return <QueryError query={query} title="Failed to load the mail" />
  const written = query.data ? [...new Set([...query.data.locales, ...query.data.builtIn])] : []
  return (
    <>
      <CardBody className="grid gap-3 md:grid-cols-2">
        <Select
          label="Language"
          value={locale ?? otherLanguages.value}
          onChange={(value) => setLocale(value === otherLanguages.value ? undefined : value)}
          options={languageOptions(written, otherLanguages)}
          find={async (text) => findLanguages(text, written, otherLanguages)}
          disabled={dirty}
        />
        <p className="min-h-5 self-center text-[0.8125rem] text-fg-muted">
          {dirty
            ? 'Save your changes before you choose another language.'
            : stored && whoGets(stored, locale)}
        </p>
      </CardBody>
      {stored ? (
        <BuyerMailForm
          key={locale ?? ''}
          app={app}
          locale={locale}
          stored={stored}
          onDirty={setDirty}
          onCancel={onCancel}
        />
      ) : (
        <ErrorMessagesSkeleton />
      )}
    </>
  )
}

function whoGets({ changed, builtIn }: BuyerMail, locale: string | undefined): string {
  if (locale === undefined) return 'For buyers whose language has no mail of its own.'
  const language = languageName(locale)
  if (changed) return `Buyers who speak ${language} get this mail.`
  return builtIn.includes(locale)
    ? `Buyers who speak ${language} get this default until you change it.`
    : `Buyers who speak ${language} get this mail until you save one for them.`
}
