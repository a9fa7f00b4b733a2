import { Checkbox } from './checkbox.tsx'

export interface CheckTableProps<Value extends string> {
  caption: string
  /** Over the names of the rows. */
  heading: string
  /** What each row is called, by its name. */
  rows: Readonly<Record<string, string>>
  columns: readonly string[]
  /** What a cell stands for; undefined leaves it empty. */
  cellOf: (row: string, column: string) => Value | undefined
  value: readonly Value[]
  onChange: (value: Value[]) => void
}

/** Boxes in rows and columns, each of which is chosen or not. */
export function CheckTable<Value extends string>(props: CheckTableProps<Value>) {
  const { caption, heading, rows, columns, cellOf, value, onChange } = props
  const toggle = (one: Value, checked: boolean) =>
    onChange(checked ? [...value, one] : value.filter((other) => other !== one))
  return (
    <table className="w-full rounded-lg border text-[0.8125rem]">
      <caption className="sr-only">{caption}</caption>
      <thead className="bg-sunken text-fg-muted text-xs">
        <tr>
          <th scope="col" className="px-3 py-1.5 text-left font-medium">
            {heading}
          </th>
          {columns.map((column) => (
            <th key={column} scope="col" className="w-16 px-2 py-1.5 font-medium capitalize">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y border-t">
        {Object.entries(rows).map(([row, label]) => (
          <tr key={row}>
            <th scope="row" className="px-3 py-2 text-left font-normal">
              {label}
            </th>
            {columns.map((column) => {
              const one = cellOf(row, column)
              return (
                <td key={column} className="px-2 py-2">
                  {one && (
                    <div className="grid place-items-center">
                      <Checkbox
                        label={`${label}: ${column}`}
                        checked={value.includes(one)}
                        onChange={(checked) => toggle(one, checked)}
                      />
                    </div>
                  )}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
