import { type App, lookupTags } from '@keyward/contract'
import { useState } from 'react'
import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { QueryError } from '../../ui/states.tsx'
import { ErrorMessagesForm } from './error-messages-form.tsx'
import { ErrorMessagesSkeleton } from './error-messages-skeleton.tsx'
import { defaultLanguage, findLanguages, languageName, languageOptions } from './languages.ts'
import { useErrorMessages } from './queries.ts'

/** The texts of an app's programs in one language at a time. */
export function ErrorMessages({ app, onClose }: { app: App; onClose: () => void }) {
  const [locale, setLocale] = useState<string>()
  const [search, setSearch] = useState('')
  const [dirty, setDirty] = useState(false)
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
      <div className="grid gap-3 px-5 pt-4 sm:grid-cols-2">
        <Select
          label="Language"
          value={locale ?? defaultLanguage.value}
          onChange={(value) => setLocale(value === defaultLanguage.value ? undefined : value)}
          options={languageOptions(locales)}
          find={async (text) => findLanguages(text, locales)}
          disabled={dirty}
        />
        <SearchInput label="Search messages" value={search} onSearch={setSearch} />
        <p className="text-[0.8125rem] text-fg-muted sm:col-span-2">
          {dirty
            ? 'Save your changes before you choose another language.'
            : locale
              ? `Programs in ${languageName(locale)} show these texts. Fields left empty use the text shown in gray.`
              : 'The texts that your program shows, by the code it receives.'}
        </p>
      </div>
      {stored && fallback.data ? (
        <ErrorMessagesForm
          key={locale ?? ''}
          app={app}
          locale={locale}
          messages={stored}
          fallback={fallback.data.errorMessages}
          search={search}
          onSearch={setSearch}
          onDirty={setDirty}
          onClose={onClose}
        />
      ) : (
        <ErrorMessagesSkeleton />
      )}
    </>
  )
}
