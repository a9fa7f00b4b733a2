import type { App, Release, SecurityFix } from '@keyward/contract'
import { releases as endpoints } from '@keyward/contract/releases'
import { useState } from 'react'
import { useMay } from '../../lib/api/rights.tsx'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ExactInput, Input, Textarea } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { ArtifactFields } from './artifact-fields.tsx'
import { isOut, nextVersion, orNull } from './release-rules.ts'
import { type ReleaseFields, useSaveRelease } from './releases-queries.ts'
import { SecurityFields } from './security-fields.tsx'

const ReleaseNotes = lazyNamed(() => import('./release-notes.tsx'), 'ReleaseNotes')

const schema = endpoints.add.body!

export interface ReleaseDialogProps {
  app: App
  releases: readonly Release[]
  /** Undefined for a new one. */
  release: Release | undefined
  onClose: () => void
}

/** The form of a new or a listed release. */
export function ReleaseDialog({ app, releases, release, onClose }: ReleaseDialogProps) {
  const save = useSaveRelease(app)
  // Who may only add releases sets the fields that they had from the beginning.
  const setsAll = useMay()(wire.releases.update)
  // The list may load the release again while this form shows the values from before.
  const [opened] = useState(release)
  const versions = releases.map(({ version }) => version)
  const [defaultValues] = useState(() => toForm(opened, versions.includes(app.version) ? '' : app.version))
  const form = useSchemaForm(schema, { defaultValues })
  const [isReading, setReading] = useState(false)
  const [isPreview, setPreview] = useState(false)
  const { errors } = form.formState
  const [security, notes] = form.watch(['security', 'notes'])

  const submit = useSubmit({ form, onDone: onClose }, (values) => {
    const { version, releasedAt, link } = values
    const body = opened ? changed(values, opened) : setsAll ? values : { version, releasedAt, link }
    if (Object.keys(body).length === 0) return undefined
    return save.mutateAsync({ opened, body })
  })

  return (
    <FormDialog
      onClose={onClose}
      busy={save.isPending}
      size="lg"
      title={opened ? `Edit ${opened.version}` : 'Add Release'}
      description={app.name}
      onSubmit={submit}
      submitLabel={opened ? 'Save Release' : 'Add Release'}
      disabled={isReading}
    >
      <div className="grid items-start gap-3 sm:grid-cols-2">
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
      </div>
      <Field label="Link" optional error={errors.link?.message}>
        <Input
          type="url"
          {...form.register('link', orNull)}
          autoComplete="off"
          placeholder="https://example.com/download"
        />
      </Field>
      {setsAll && (
        <>
          <div className="grid items-start gap-3 sm:grid-cols-3">
            <Field label="Channel" hint="Such as stable or beta" error={errors.channel?.message}>
              <ExactInput {...form.register('channel')} />
            </Field>
            <Field
              label="Updates from"
              optional
              hint="The oldest version that may update"
              error={errors.updatesFrom?.message}
            >
              <Input {...form.register('updatesFrom', orNull)} autoComplete="off" className="font-mono" />
            </Field>
            <Field label="Build" optional hint="For Sparkle's appcast" error={errors.build?.message}>
              <Input {...form.register('build', orNull)} autoComplete="off" className="font-mono" />
            </Field>
          </div>
          <Field
            label="What is new"
            optional
            hint="Markdown. HTML is shown as text."
            error={errors.notes?.message}
            action={
              <button
                type="button"
                aria-pressed={isPreview}
                className="rounded-sm text-[0.8125rem] text-accent-text hover:underline"
                onClick={() => setPreview(!isPreview)}
              >
                {isPreview ? 'Hide Preview' : 'Preview'}
              </button>
            }
          >
            <Textarea rows={5} {...form.register('notes', { setValueAs: (value) => value || null })} />
          </Field>
          {isPreview && (
            <section aria-label="Preview" className="rounded-lg border p-3">
              <Deferred fallback={<Skeleton className="h-10" />}>
                <ReleaseNotes notes={notes ?? ''} />
              </Deferred>
            </section>
          )}
          <ArtifactFields form={form} onReading={setReading} />
          <Switch
            label="Security fix"
            description="Every license covers it, whatever its updates. Once it is out, it stays one."
            checked={Boolean(security)}
            disabled={opened?.security != null && isOut(opened, serverNow())}
            onChange={(checked) => form.setValue('security', checked ? newFix() : null)}
          />
          {security && <SecurityFields form={form} />}
        </>
      )}
    </FormDialog>
  )
}

const newFix = (): SecurityFix => ({
  ...{ severity: 'high', affects: [{ from: null, before: null }], summary: '', advisory: null },
})

const dateOf = (iso: string) => iso.slice(0, 10)

function toForm(release: Release | undefined, proposed: string) {
  const { version = proposed, link = null, channel = 'stable', notes = null } = release ?? {}
  const { updatesFrom = null, build = null, artifacts = [] } = release ?? {}
  return {
    ...{ version, link, channel, notes, updatesFrom, build, artifacts },
    releasedAt: dateOf(release?.releasedAt ?? new Date().toISOString()),
    security: release?.security ?? null,
  }
}

/** The fields that differ from what the form opened. */
function changed(values: ReleaseFields, opened: Release): Partial<ReleaseFields> {
  const before: Record<string, unknown> = { ...opened, releasedAt: dateOf(opened.releasedAt) }
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}
