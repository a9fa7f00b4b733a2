import { type ImportField, type ImportMapping, importFields } from '@keyward/contract'
import { Select } from '../../ui/select.tsx'
import { fieldLabels } from './words.ts'

export interface PreviewedColumn {
  name: string
  /** The first cells that are not empty. */
  samples: string[]
}

export interface ColumnMappingProps {
  columns: readonly PreviewedColumn[]
  mapping: ImportMapping
  onChange: (mapping: ImportMapping) => void
}

const nothing = 'nothing'
const options = [
  { value: nothing, label: 'Not imported' },
  ...importFields.map((field) => ({ value: field, label: fieldLabels[field] })),
]

/** What each column of a file means, beside its first cells. */
export function ColumnMapping({ columns, mapping, onChange }: ColumnMappingProps) {
  const fieldOf = (column: string) => importFields.find((field) => mapping[field] === column)
  function choose(column: string, chosen: string) {
    const rest = Object.entries(mapping).filter(([field, name]) => name !== column && field !== chosen)
    onChange({
      ...(Object.fromEntries(rest) as ImportMapping),
      ...(chosen === nothing ? {} : { [chosen as ImportField]: column }),
    })
  }
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1.5 font-medium">Columns</legend>
      <ul className="divide-y rounded-lg border">
        {columns.map(({ name, samples }) => (
          <li key={name} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-3 py-2.5">
            <div className="min-w-0 flex-1 basis-40">
              <p className="wrap-anywhere font-medium">{name}</p>
              <p className="truncate font-mono text-[0.8125rem] text-fg-muted">
                {samples.join(' · ') || '—'}
              </p>
            </div>
            <Select
              label={`What ${name} means`}
              value={fieldOf(name) ?? nothing}
              onChange={(chosen) => choose(name, chosen)}
              options={options}
              className="w-48"
            />
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
