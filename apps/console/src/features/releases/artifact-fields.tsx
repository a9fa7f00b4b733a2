import type { releases as endpoints } from '@keyward/contract/releases'
import { FileUp, X } from 'lucide-react'
import { type ChangeEvent, type DragEvent, useEffect } from 'react'
import { type UseFormReturn, useFieldArray } from 'react-hook-form'
import type { z } from 'zod'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { ExactInput, Input } from '../../ui/input.tsx'
import { formatBytes } from './format-bytes.ts'
import { besides } from './release-rules.ts'
import { useReadingFiles } from './use-reading-files.ts'

type Body = NonNullable<typeof endpoints.add.body>
export type ReleaseForm = UseFormReturn<z.input<Body>, unknown, z.output<Body>>

export interface ArtifactFieldsProps {
  form: ReleaseForm
  onReading: (isReading: boolean) => void
}

/** The files of a release. They are read here and stay where the vendor has them. */
export function ArtifactFields({ form, onReading }: ArtifactFieldsProps) {
  const files = useFieldArray({ control: form.control, name: 'artifacts' })
  const { reading, read } = useReadingFiles((artifact) => {
    const last = form.getValues('artifacts')?.at(-1)?.url
    files.append({ ...artifact, url: besides(last, artifact.name) })
  })
  const isReading = reading.length > 0
  useEffect(() => onReading(isReading), [isReading, onReading])
  const errors = form.formState.errors.artifacts
  const message = errors?.root?.message ?? errors?.message

  function choose({ currentTarget }: ChangeEvent<HTMLInputElement>) {
    read([...(currentTarget.files ?? [])])
    currentTarget.value = ''
  }
  function drop(event: DragEvent) {
    event.preventDefault()
    read([...event.dataTransfer.files])
  }

  return (
    <section
      aria-label="Files"
      className="grid gap-3 rounded-lg border border-dashed p-3"
      onDrop={drop}
      onDragOver={(event) => event.preventDefault()}
    >
      <div>
        <Button asChild>
          <label className="cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent-text">
            <FileUp />
            Choose Files
            <input type="file" multiple className="sr-only" onChange={choose} />
          </label>
        </Button>
        <span className="ml-3 text-[0.8125rem] text-fg-muted max-md:hidden">or drop them here</span>
        <p className="mt-2 text-[0.8125rem] text-fg-muted">
          Their sizes and digests are read here. They are not uploaded: enter where you host them.
        </p>
      </div>
      {message && (
        <p role="alert" className="text-[0.8125rem] text-danger-text">
          {message}
        </p>
      )}
      {files.fields.map((artifact, at) => {
        const wrong = errors?.[at]
        return (
          <fieldset key={artifact.id} className="grid min-w-0 gap-2 border-t pt-3">
            <legend className="sr-only">{artifact.name}</legend>
            <div className="flex min-w-0 items-center gap-3">
              <span className="wrap-anywhere min-w-0 flex-1">
                <bdi>{artifact.name}</bdi>{' '}
                <span className="text-[0.8125rem] text-fg-muted">{formatBytes(artifact.size)}</span>
              </span>
              <IconButton label={`Remove ${artifact.name}`} onClick={() => files.remove(at)}>
                <X />
              </IconButton>
            </div>
            <Field
              label="Address"
              error={wrong?.url?.message ?? wrong?.name?.message ?? wrong?.size?.message}
            >
              <Input
                type="url"
                autoComplete="off"
                placeholder="https://downloads.example.com/…"
                {...form.register(`artifacts.${at}.url`)}
              />
            </Field>
            <div className="grid items-start gap-2 sm:grid-cols-3">
              {(['platform', 'architecture', 'kind'] as const).map((name) => (
                <Field
                  key={name}
                  label={`${name[0]?.toUpperCase()}${name.slice(1)}`}
                  error={wrong?.[name]?.message}
                >
                  <ExactInput {...form.register(`artifacts.${at}.${name}`)} />
                </Field>
              ))}
            </div>
            <Field
              label="Signature"
              optional
              hint="Your own, as your updater reads it"
              error={wrong?.signature?.message}
            >
              <Input
                className="font-mono"
                autoComplete="off"
                {...form.register(`artifacts.${at}.signature`, {
                  setValueAs: (value: string | undefined) => value?.trim() || undefined,
                })}
              />
            </Field>
          </fieldset>
        )
      })}
      {reading.map(({ file, abort, progress }) => (
        <p
          key={`${file.name}/${file.lastModified}`}
          className="flex min-w-0 items-center gap-3"
          role="status"
        >
          <span className="wrap-anywhere min-w-0 flex-1">
            Reading <bdi>{file.name}</bdi>: {Math.floor(progress * 100)}%
          </span>
          <IconButton label={`Stop reading ${file.name}`} onClick={() => abort.abort()}>
            <X />
          </IconButton>
        </p>
      ))}
    </section>
  )
}
