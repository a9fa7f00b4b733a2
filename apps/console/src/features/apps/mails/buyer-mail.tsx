import type { App } from '@keyward/contract'
import { mailKinds } from '@keyward/contract/app-mail-text'
import { useState } from 'react'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { mailKindLabels } from '../../../lib/format/told-mails.ts'
import { useUrlState } from '../../../lib/navigation/url-state.ts'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { Select } from '../../../ui/select.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { ErrorMessagesSkeleton } from '../texts/error-messages-skeleton.tsx'
import { findLanguages, languageName, languageOptions } from '../texts/languages.ts'
import { BuyerMailForm } from './buyer-mail-form.tsx'
import { type BuyerMail, useBuyerMail } from './buyer-mail-queries.ts'
import { CustomerMailSettings } from './customer-mail-settings.tsx'
import { ToldCustomers } from './told-customers.tsx'

const otherLanguages = { value: 'default', label: 'All other languages' }

/** The mails of an app: which go to customers, their texts in one language at a time, and what was sent. */
export function BuyerMailTab({ app }: { app: App }) {
  // Cancel loads the mail again, because someone else may have changed it.
  const [edition, setEdition] = useState(0)
  return (
    <div className="grid gap-4 md:gap-6">
      <CustomerMailSettings app={app} />
      <Card aria-label="Texts of Mails">
        <CardHeader
          title="Texts of Mails"
          description="The keys that your shop’s buyers get, and what your customers are told later."
        />
        <BuyerMails key={edition} app={app} onCancel={() => setEdition(edition + 1)} />
      </Card>
      <May call={wire.customerMails.list}>
        <ToldCustomers app={app} />
      </May>
    </div>
  )
}

function BuyerMails({ app, onCancel }: { app: App; onCancel: () => void }) {
  const [url, setUrl] = useUrlState('kind', 'language')
  const kind = mailKinds.find((one) => one === url.kind) ?? 'purchase'
  const locale = url.language
  const query = useBuyerMail({ id: app._id, kind, locale })
  // An older copy would overwrite what was saved elsewhere.
  const stored = query.isFetchedAfterMount ? query.data : undefined
  if (query.isError) return <QueryError query={query} title="Failed to load the mail" />
  const written = query.data ? [...new Set([...query.data.locales, ...query.data.builtIn])] : []
  return (
    <>
      <CardBody className="grid gap-3 md:grid-cols-2">
        <Select
          label="Mail"
          value={kind}
          onChange={(value) => setUrl({ kind: value })}
          options={mailKinds.map((value) => ({ value, label: mailKindLabels[value] }))}
        />
        <Select
          label="Language"
          value={locale ?? otherLanguages.value}
          onChange={(value) => setUrl({ language: value === otherLanguages.value ? undefined : value })}
          options={languageOptions(written, otherLanguages)}
          find={async (text) => findLanguages(text, written, otherLanguages)}
        />
        <p className="min-h-5 self-center text-[0.8125rem] text-fg-muted md:col-span-2">
          {stored && whoGets(stored, locale)}
        </p>
      </CardBody>
      {stored ? (
        <BuyerMailForm
          key={`${kind} ${locale ?? ''}`}
          app={app}
          named={{ id: app._id, kind, locale }}
          stored={stored}
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
