import { type KeyboardEvent, type MouseEvent, useState } from 'react'
import { formatNumber } from '../lib/format/numbers.ts'
import { cx } from './cx.ts'

export interface LineChartProps {
  /** The accessible name of the chart and the caption of the table. */
  caption: string
  labels: string[]
  /** One or two; the first is drawn in the accent colour with an area under it. */
  series: { name: string; values: number[] }[]
  /** Heading of the label column in the table. */
  labelHeading: string
  /** The legend shows the last value of a line instead of its sum. */
  isLevel?: boolean
  /** A value in words; a whole number by default. */
  format?: ((value: number) => string) | undefined
  /** Opens what a day counts: by a click or Enter. */
  onPick?: (at: number) => void
}

const plain = (value: number): string => formatNumber(value) ?? ''

const width = 600
const height = 160
const strokes = ['stroke-accent-text', 'stroke-fg-faint', 'stroke-danger-text']
const dots = ['bg-accent-text', 'bg-fg-faint', 'bg-danger-text']
/** Besides the color, a line differs by its dashes. */
const dashes = [undefined, '4 4', '1 4']

/** Lines over days, readable with pointer, arrow keys and as a table. */
export function LineChart({
  caption,
  labels,
  series,
  labelHeading,
  isLevel = false,
  format = plain,
  onPick,
}: LineChartProps) {
  const [at, setAt] = useState<number>()
  const [asTable, setAsTable] = useState(false)
  const top = niceTop(Math.max(1, ...series.flatMap((line) => line.values)))
  const x = (index: number) => (labels.length > 1 ? (index / (labels.length - 1)) * width : width / 2)
  const y = (value: number) => height - (value / top) * height
  const path = (values: number[]) =>
    values
      .map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
      .join('')

  const dayUnder = (event: MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect()
    const share = (event.clientX - box.left) / box.width
    return Math.min(labels.length - 1, Math.max(0, Math.round(share * (labels.length - 1))))
  }
  const step = (event: KeyboardEvent) => {
    const last = labels.length - 1
    const next = { ArrowLeft: (at ?? labels.length) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[
      event.key
    ]
    if (event.key === 'Escape') setAt(undefined)
    if (event.key === 'Enter' && at !== undefined) onPick?.(at)
    if (next === undefined) return
    event.preventDefault()
    setAt(Math.min(last, Math.max(0, next)))
  }

  return (
    <figure className="grid gap-3">
      <figcaption className="flex flex-wrap items-center gap-x-5 gap-y-2 text-[0.8125rem]">
        {series.map((line, index) => (
          <span key={line.name} className="flex items-center gap-2">
            <span aria-hidden className={cx('h-0.5 w-4 rounded-full', dots[index])} />
            <span className="text-fg-muted">{line.name}</span>
            <span className="font-semibold tabular-nums">
              {format(
                isLevel ? (line.values.at(-1) ?? 0) : line.values.reduce((sum, value) => sum + value, 0),
              )}
            </span>
          </span>
        ))}
        <button
          type="button"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
          className="ml-auto rounded py-0.5 text-accent-text underline-offset-4 hover:underline"
        >
          {asTable ? 'Show chart' : 'Show table'}
        </button>
      </figcaption>
      {!asTable && (
        <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-fg-muted text-xs">
          <div aria-hidden className="flex h-40 flex-col justify-between text-right tabular-nums">
            <span className="-translate-y-1/2">{format(top)}</span>
            <span>{format(top / 2)}</span>
            <span className="translate-y-1/2">0</span>
          </div>
          <div
            role="slider"
            tabIndex={0}
            aria-label={`${caption}. Use the arrow keys to read a day${onPick ? ', and Enter to open it' : ''}.`}
            aria-valuemin={0}
            aria-valuemax={labels.length - 1}
            aria-valuenow={at ?? labels.length - 1}
            aria-valuetext={describe(at ?? labels.length - 1)}
            className={cx('relative h-40 touch-pan-y rounded-sm', onPick && 'cursor-pointer')}
            onPointerMove={(event) => setAt(dayUnder(event))}
            // A finger taps without a move before it.
            onClick={(event) => onPick?.(dayUnder(event))}
            onPointerLeave={() => setAt(undefined)}
            onKeyDown={step}
            onBlur={() => setAt(undefined)}
          >
            <svg
              aria-hidden="true"
              viewBox={`0 0 ${width} ${height}`}
              preserveAspectRatio="none"
              className="size-full overflow-visible [&_*]:[vector-effect:non-scaling-stroke]"
            >
              {[0, 0.5, 1].map((share) => (
                <line
                  key={share}
                  x1="0"
                  x2={width}
                  y1={share * height}
                  y2={share * height}
                  className="stroke-line"
                />
              ))}
              {series[0] && (
                <path
                  d={`${path(series[0].values)}L${width} ${height}L0 ${height}Z`}
                  className="fill-accent opacity-10"
                />
              )}
              {series.toReversed().map((line, index) => (
                <path
                  key={line.name}
                  d={path(line.values)}
                  fill="none"
                  strokeWidth="2"
                  strokeLinejoin="round"
                  strokeLinecap="round"
                  strokeDasharray={dashes[series.length - 1 - index]}
                  className={strokes[series.length - 1 - index]}
                />
              ))}
              {at !== undefined && (
                <line x1={x(at)} x2={x(at)} y1="0" y2={height} className="stroke-line-strong" />
              )}
            </svg>
            {at !== undefined && (
              <div
                className={cx(
                  'pointer-events-none absolute top-0 z-10 grid w-max gap-1 rounded-lg border bg-raised px-3 py-2 text-fg shadow-pop',
                  at > labels.length / 2 ? '-translate-x-[calc(100%+0.5rem)]' : 'translate-x-2',
                )}
                style={{ left: `${(x(at) / width) * 100}%` }}
              >
                <span className="font-medium">{labels[at]}</span>
                {series.map((line, index) => (
                  <span key={line.name} className="flex items-center gap-2">
                    <span className={cx('size-1.5 rounded-full', dots[index])} />
                    <span className="text-fg-muted">{line.name}</span>
                    <span className="ml-auto pl-3 font-semibold tabular-nums">
                      {format(line.values[at] ?? 0)}
                    </span>
                  </span>
                ))}
              </div>
            )}
          </div>
          <div aria-hidden className="col-start-2 flex justify-between pt-1">
            <span>{labels[0]}</span>
            <span className="max-sm:hidden">{labels[Math.floor(labels.length / 2)]}</span>
            <span>{labels.at(-1)}</span>
          </div>
        </div>
      )}
      {asTable && <DataTable {...{ caption, labels, series, labelHeading, format, onPick }} />}
    </figure>
  )

  function describe(index: number) {
    return [labels[index], ...series.map((line) => `${line.name} ${format(line.values[index] ?? 0)}`)].join(
      ', ',
    )
  }
}

function DataTable({ caption, labels, series, labelHeading, format = plain, onPick }: LineChartProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={caption} tabIndex={0} className="max-h-[12.75rem] overflow-y-auto rounded-lg border">
      <table className="w-full text-left">
        <caption className="sr-only">{caption}</caption>
        <thead className="sticky top-0 bg-sunken text-fg-muted text-xs">
          <tr>
            <th scope="col" className="px-3 py-2 font-medium">
              {labelHeading}
            </th>
            {series.map((line) => (
              <th key={line.name} scope="col" className="px-3 py-2 text-right font-medium">
                {line.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y tabular-nums">
          {labels.map((label, index) => (
            <tr key={label}>
              <th scope="row" className="px-3 py-1.5 font-normal">
                {onPick ? (
                  <button
                    type="button"
                    className="rounded-sm underline-offset-4 hover:underline"
                    onClick={() => onPick(index)}
                  >
                    {label}
                  </button>
                ) : (
                  label
                )}
              </th>
              {series.map((line) => (
                <td key={line.name} className="px-3 py-1.5 text-right">
                  {format(line.values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The next of 2, 4, 10, 20, 40, 100 …, so that half of it is an integer. */
function niceTop(value: number) {
  for (let power = 1; ; power *= 10) {
    for (const step of [2, 4, 10]) if (value <= step * power) return step * power
  }
}
