import type { App, endpoints as all, BodyOf, Release } from '@keyward/contract'
import { releases as endpoints, releaseLink } from '@keyward/contract/releases'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../lib/api/call.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { useUnsaved } from '../../lib/form/unsaved.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useReleases } from './releases-queries.ts'

/** Lists and edits the released versions of an app. */
export function ReleasesTab({ app }: { app: App }) {
  const releases = useReleases(app._id)
  return (
    <Card aria-label={`Releases of ${app.name}`}>
      <CardHeader
        title={`Releases of ${app.name}`}
        description="A license with an end of updates covers the versions that were released before. It also covers versions that are not listed here."
      />
      <CardBody className="grid gap-4">
        {releases.isError && <QueryError boxed query={releases} title="Failed to load the releases" />}
        {releases.isPending && <Skeleton className="h-32" />}
        {releases.data && (
          <May call={wire.releases.add}>
            <AddForm app={app} releases={releases.data} />
          </May>
        )}
        {releases.data?.length === 0 && (
          <p className="text-fg-muted">No releases yet: every license covers every version.</p>
        )}
        {releases.data && releases.data.length > 0 && (
          <ul aria-label="Releases" className="min-w-0 divide-y rounded-lg border">
            {releases.data.map((release) => (
              <ReleaseRow key={release._id} release={release} />
            ))}
          </ul>
        )}
      </CardBody>
    </Card>
  )
}

function ReleaseRow({ release }: { release: Release }) {
  const remove = useWrite({
    mutationFn: () => call(wire.releases.remove, { params: { id: release._id } }),
    onError: (error) => toastFailure(error, 'Failed to remove the release'),
  })
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 p-3">
      <span className="font-mono">{release.version}</span>
      <span className="text-[0.8125rem] text-fg-muted">
        Released <DateText value={release.releasedAt} />
      </span>
      {release.link && <ReleaseLink link={release.link} />}
      <May call={wire.releases.remove}>
        <IconButton
          label={`Remove ${release.version}`}
          className="ml-auto"
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          <Trash2 />
        </IconButton>
      </May>
    </li>
  )
}

/** An address that can no longer be added is text, its invisible characters percent-encoded. */
function ReleaseLink({ link }: { link: string }) {
  if (!releaseLink.safeParse(link).success) {
    return (
      <span title="Only https links without a username open" className="min-w-0 truncate text-fg-muted">
        <bdi>{URL.parse(link)?.href ?? link}</bdi>
      </span>
    )
  }
  return (
    <a
      href={link}
      target="_blank"
      rel="noreferrer"
      title={link}
      className="min-w-0 truncate text-accent-text underline"
    >
      {link}
    </a>
  )
}

/** The version that usually follows the newest of these. */
function nextVersion(versions: readonly string[]): string {
  const inOrder = versions.toSorted((a, b) => a.localeCompare(b, 'en-US', { numeric: true }))
  return (inOrder.at(-1) ?? '').replace(/\d+$/, (patch) => String(Number(patch) + 1))
}

const schema = endpoints.add.body!
type NewRelease = BodyOf<(typeof all)['releases']['add']>

function AddForm({ app, releases }: { app: App; releases: readonly Release[] }) {
  const add = useWrite({
    mutationFn: (body: NewRelease) => call(wire.releases.add, { params: { id: app._id }, body }),
    onSuccess: ({ release }) => toast.success(`Version ${release.version} added`),
    onError: (error) => toastFailure(error, 'Failed to add the release'),
  })
  const today = new Date().toISOString().slice(0, 10)
  const versions = releases.map(({ version }) => version)
  // A version that is listed already would be rejected, and one that is only a guess could be added by mistake.
  const [proposed] = useState(versions.includes(app.version) ? '' : app.version)
  const form = useSchemaForm(schema, { defaultValues: { version: proposed, releasedAt: today } })
  const { errors, isDirty } = form.formState
  useUnsaved(isDirty)
  const submit = form.handleSubmit((body) =>
    add.mutate(body, {
      onSuccess: () => form.reset({ version: '', releasedAt: today, link: undefined }),
      onError: (error) => showFieldErrors(form, error),
    }),
  )
  return (
    <form noValidate onSubmit={submit} className="grid items-start gap-3 md:grid-cols-[8rem_10rem_1fr_auto]">
      <Field label="Version" error={errors.version?.message}>
        <Input
          {...form.register('version')}
          autoComplete="off"
          placeholder={nextVersion([...versions, app.version])}
          className="font-mono"
        />
      </Field>
      <Field label="Released" error={errors.releasedAt?.message}>
        <Input type="date" {...form.register('releasedAt')} />
      </Field>
      <Field label="Link" optional error={errors.link?.message}>
        <Input
          type="url"
          {...form.register('link', { setValueAs: (value: string | undefined) => value || undefined })}
          autoComplete="off"
          placeholder="https://example.com/download"
        />
      </Field>
      <Button type="submit" loading={add.isPending} className="md:mt-6.5">
        Add Release
      </Button>
    </form>
  )
}
