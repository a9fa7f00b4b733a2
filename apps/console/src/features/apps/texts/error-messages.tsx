import { type App, lookupTags } from '@keyward/contract'
import { useState } from 'react'
import { useUrlState } from '../../../lib/navigation/url-state.ts'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { SearchInput } from '../../../ui/input.tsx'
import { Select } from '../../../ui/select.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { useErrorMessages } from '../queries.ts'
import { ErrorMessagesForm } from './error-messages-form.tsx'
import { ErrorMessagesSkeleton } from './error-messages-skeleton.tsx'
import { defaultLanguage, findLanguages, languageName, languageOptions } from './languages.ts'

/** The texts of an app's programs in one language at a time. */
export function ErrorMessagesTab({ app }: { app: App }) {
  // Cancel loads the texts again, because someone else may have changed them.
  const [edition, setEdition] = useState(0)
  return (
    <Card aria-label="Error Messages">
      <CardHeader
        title="Error Messages"
        description="The texts that your program shows, by the code it receives."
      />
      <ErrorMessages key={edition} app={app} onCancel={() => setEdition(edition + 1)} />
    </Card>
  )
}

function ErrorMessages({ app, onCancel }: { app: App; onCancel: () => void }) {
  const [{ language: locale }, setUrl] = useUrlState('language')
  const [search, setSearch] = useState('')
  const messages = useErrorMessages(app._id, locale)
  // An older copy would overwrite what was saved elsewhere.
  const stored = messages.isFetchedAfterMount ? messages.data : undefined
  const [, general] = locale ? [...lookupTags(locale), undefined] : []
  const fallback = useErrorMessages(app._id, general)
  const failed = messages.isError ? messages : fallback.isError ? fallback : undefined
  if (failed) {
    return <QueryError query={failed} title="Failed to load app settings" />
  }
  const locales = messages.data?.locales ?? fallback.data?.locales ?? []
  return (
    <>
      <CardBody className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Language"
          value={locale ?? defaultLanguage.value}
          onChange={(value) => setUrl({ language: value === defaultLanguage.value ? undefined : value })}
          options={languageOptions(locales)}
          find={async (text) => findLanguages(text, locales)}
        />
        <SearchInput label="Search messages" value={search} onSearch={setSearch} />
        <p className="min-h-5 text-[0.8125rem] text-fg-muted sm:col-span-2">
          {locale
            ? `Programs in ${languageName(locale)} show these texts. Fields left empty use the text shown in gray.`
            : 'Programs in a language without its own texts show these.'}
        </p>
      </CardBody>
      {stored && fallback.data ? (
        <ErrorMessagesForm
          key={locale ?? ''}
          app={app}
          locale={locale}
          messages={stored}
          fallback={fallback.data.errorMessages}
          search={search}
          onSearch={setSearch}
          onCancel={onCancel}
        />
      ) : (
        <ErrorMessagesSkeleton />
      )}
    </>
  )
}
