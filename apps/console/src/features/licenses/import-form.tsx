import { type App, unlimited } from '@keyward/contract'
import { bulk as bulkEndpoints } from '@keyward/contract/bulk'
import { Download, FileUp } from 'lucide-react'
import { type ChangeEvent, type DragEvent, useState } from 'react'
import { z } from 'zod'
import { toAppOptions, useApp, useFindApps } from '../../lib/api/apps.ts'
import { saveFile } from '../../lib/browser/save-file.ts'
import { showFieldErrors, useSchemaForm } from '../../lib/form/schema-form.ts'
import { Button } from '../../ui/button.tsx'
import { DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { Textarea } from '../../ui/input.tsx'
import { importLimits, readCsvFile, templateCsv } from './import-csv.ts'

const { app, csv } = bulkEndpoints.importLicenses.body!.shape
const schema = z.object({ app, csv })
export type ImportValues = z.output<typeof schema>

export interface ImportFormProps {
  values: ImportValues
  apps: App[]
  maxPerApp: number
  busy: boolean
  /** Rejects with the server's error. */
  onCheck: (values: ImportValues) => Promise<void>
  onCancel: () => void
}

export function ImportForm({ values, apps, maxPerApp, busy, onCheck, onCancel }: ImportFormProps) {
  const form = useSchemaForm(schema, { defaultValues: values })
  const { errors } = form.formState
  const [fileName, setFileName] = useState<string>()
  const { app: chosen } = useApp(form.watch('app') || undefined)
  const find = useFindApps()
  const customKeys = chosen?.settings.allowCustomLicenseKey ?? false

  async function take(file: File | undefined) {
    if (!file) return
    const read = await readCsvFile(file)
    if ('error' in read) return form.setError('csv', { message: read.error })
    setFileName(file.name)
    form.setValue('csv', read.text, { shouldValidate: true })
  }
  function choose(event: ChangeEvent<HTMLInputElement>) {
    void take(event.target.files?.[0])
    // Allow choosing the same file again after a correction.
    event.target.value = ''
  }
  function drop(event: DragEvent) {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    void take(event.dataTransfer.files[0])
  }

  const submit = form.handleSubmit(async (submitted) => {
    try {
      await onCheck(submitted)
    } catch (error) {
      showFieldErrors(form, error)
    }
  })

  return (
    <DialogForm onSubmit={submit} onDrop={drop} onDragOver={(event) => event.preventDefault()}>
      <DialogBody>
        <Field label="Application" error={errors.app && 'Choose an application'}>
          <FormSelect
            control={form.control}
            name="app"
            options={toAppOptions(apps, chosen)}
            find={find}
            placeholder="Choose an application"
          />
        </Field>
        <div className="grid gap-1 text-[0.8125rem] text-fg-muted">
          <p>
            The first line names the columns: <code className="font-mono text-fg">expiresAt</code> (a date
            such as 2030-12-31, the last valid day in UTC), and optionally{' '}
            <code className="font-mono text-fg">key</code> and <code className="font-mono text-fg">note</code>
            . Instead of <code className="font-mono text-fg">expiresAt</code>, a line can have a{' '}
            <code className="font-mono text-fg">duration</code> from first use, such as 30 days, or the name
            of a license <code className="font-mono text-fg">type</code>. All columns of an export are
            accepted. {importLimits}
            {maxPerApp !== unlimited && ` Your plan allows ${maxPerApp} licenses per app.`}
          </p>
          {chosen && !customKeys && (
            <p>
              Keys are generated for you. To use your own keys, allow custom license keys in the settings of{' '}
              {chosen.name}.
            </p>
          )}
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Button asChild>
            <label className="cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent-text">
              <FileUp />
              Choose a File
              <input
                type="file"
                accept=".csv,.txt,text/csv,text/plain"
                className="sr-only"
                onChange={choose}
              />
            </label>
          </Button>
          <Button
            variant="ghost"
            onClick={() =>
              saveFile('licenses-template.csv', [templateCsv(customKeys)], 'text/csv; charset=utf-8')
            }
          >
            <Download />
            Download Template
          </Button>
        </div>
        <Field
          label="CSV"
          hint={
            fileName
              ? `From ${fileName}. You can change it here.`
              : 'Choose a file, drop it here, or paste its text.'
          }
          error={errors.csv?.message}
        >
          <Textarea
            rows={8}
            className="whitespace-pre font-mono md:text-[0.8125rem]"
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            placeholder={'expiresAt,key,note\n2030-12-31,,Order 1001'}
            {...form.register('csv')}
          />
        </Field>
      </DialogBody>
      <FormFooter submitLabel="Check First" busy={busy} onCancel={onCancel} />
    </DialogForm>
  )
}
