import { type App, type ImportMapping, type ImportPreset, importPresets, limits } from '@keyward/contract'
import { openTable, suggestMapping } from '@keyward/contract/imported-files'
import { FileUp, X } from 'lucide-react'
import { type ChangeEvent, type DragEvent, type FormEvent, useState } from 'react'
import { toAppOptions, useFindApps } from '../../lib/api/apps.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import { ColumnMapping, type PreviewedColumn } from './column-mapping.tsx'
import { type ChosenFile, readChosenFile } from './files.ts'
import { useStartImport } from './queries.ts'
import { hasColumns, systems } from './words.ts'

export interface NewImportDialogProps {
  apps: App[]
  appId: string | undefined
  onCreated: (id: string) => void
  onClose: () => void
}

const presetOptions = importPresets.map((value) => ({ value, label: systems[value].label }))

/** Chooses app, system, files and what their columns mean. Checking changes nothing. */
export function NewImportDialog({ apps, appId, onCreated, onClose }: NewImportDialogProps) {
  const only = apps.length === 1 ? apps[0]?._id : undefined
  const [app, setApp] = useState(appId ?? only)
  const [preset, setPreset] = useState<ImportPreset>('keyward')
  const [files, setFiles] = useState<ChosenFile[]>([])
  const [columns, setColumns] = useState<PreviewedColumn[]>([])
  const [mapping, setMapping] = useState<ImportMapping>({})
  const [error, setError] = useState<{ app?: string; files?: string }>({})
  const start = useStartImport()
  const find = useFindApps()
  const mapped = hasColumns(preset) && columns.length > 0

  async function add(added: FileList | null) {
    const next = [...files]
    const errors: string[] = []
    for (const file of added ?? []) {
      if (next.length >= limits.importFilesMax) {
        errors.push(`At most ${limits.importFilesMax} files can be imported together.`)
        break
      }
      const read = await readChosenFile(
        file,
        next.map(({ name }) => name),
      )
      if ('error' in read) errors.push(read.error)
      else next.push(read)
    }
    setError(errors.length > 0 ? { files: errors.join(' ') } : {})
    take(next)
  }
  function take(next: ChosenFile[]) {
    setFiles(next)
    const found = columnsOf(next)
    setColumns(found)
    setMapping(suggestMapping(found.map(({ name }) => name)))
  }
  function choose(event: ChangeEvent<HTMLInputElement>) {
    const { files: chosen } = event.target
    // Reading copies the list, which is emptied so that the same file can be chosen again.
    void add(chosen).finally(() => {
      event.target.value = ''
    })
  }
  function drop(event: DragEvent) {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    void add(event.dataTransfer.files)
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    if (app === undefined) return setError({ app: 'Choose an application' })
    if (files.length === 0) return setError({ files: 'Choose at least one file' })
    if (mapped && mapping.key === undefined && mapping.username === undefined)
      return setError({ files: 'Say which column has the license keys or the usernames' })
    setError({})
    const body = { app, preset, ...(mapped ? { mapping } : {}) }
    start.mutate({ body, files }, { onSuccess: ({ _id }) => onCreated(_id) })
  }

  return (
    <FormDialog
      size="lg"
      onClose={onClose}
      busy={start.isPending}
      title="New Import"
      description="Bring licenses along from a CSV file, or licenses and end users from another system. The files are checked first, and nothing changes until you import."
      onSubmit={submit}
      onDrop={drop}
      onDragOver={(event) => event.preventDefault()}
      submitLabel="Check Files"
    >
      <div className="grid gap-4 md:grid-cols-2">
        <Field label="Application" error={error.app}>
          <Select
            value={app}
            onChange={setApp}
            options={toAppOptions(apps)}
            find={find}
            placeholder="Choose an application"
          />
        </Field>
        <Field label="System">
          <Select
            value={preset}
            onChange={(value) => setPreset(value as ImportPreset)}
            options={presetOptions}
          />
        </Field>
      </div>
      <p className="text-[0.8125rem] text-fg-muted">{systems[preset].files}</p>
      <div className="grid gap-2">
        <div>
          <Button asChild>
            <label className="cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent-text">
              <FileUp />
              Choose Files
              <input
                type="file"
                multiple
                accept=".json,.csv,.txt,.tsv,application/json,text/*"
                className="sr-only"
                onChange={choose}
              />
            </label>
          </Button>
          <span className="ml-3 text-[0.8125rem] text-fg-muted max-md:hidden">or drop them here</span>
        </div>
        {files.length > 0 && (
          <ul aria-label="Chosen files" className="divide-y rounded-lg border">
            {files.map(({ name, size }) => (
              <li key={name} className="flex items-center justify-between gap-3 py-1 pr-1 pl-3">
                <span className="wrap-anywhere min-w-0">{name}</span>
                <span className="ml-auto whitespace-nowrap text-[0.8125rem] text-fg-muted tabular-nums">
                  {formatNumber(Math.max(1, Math.round(size / 1024)))} KB
                </span>
                <IconButton
                  label={`Remove ${name}`}
                  onClick={() => take(files.filter((file) => file.name !== name))}
                >
                  <X />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
        {error.files && (
          <p role="alert" className="text-[0.8125rem] text-danger-text">
            {error.files}
          </p>
        )}
      </div>
      {mapped && <ColumnMapping columns={columns} mapping={mapping} onChange={setMapping} />}
    </FormDialog>
  )
}

const previewedRows = 20
const previewedCharacters = 200_000

/** The columns of all files, with their first cells. */
function columnsOf(files: readonly ChosenFile[]): PreviewedColumn[] {
  const samples = new Map<string, string[]>()
  for (const { text } of files) {
    // The start is enough for a preview; the last row of it can be cut off.
    const table = openTable(text.slice(0, previewedCharacters))
    if (!table) continue
    for (const name of table.columns) if (!samples.has(name)) samples.set(name, [])
    let seen = 0
    for (const { cells, problem } of table.rows) {
      seen += 1
      if (problem === undefined)
        for (const [name, cell] of cells) {
          const found = samples.get(name)
          if (found && found.length < 3) found.push(cell.slice(0, 40))
        }
      if (seen >= previewedRows) break
    }
  }
  return Array.from(samples, ([name, cells]) => ({ name, samples: cells }))
}
