import { Fragment } from 'react'
import { formatNumber } from '../lib/format/numbers.ts'

/** The first names of a list; names that others chose must not reorder the text around them. */
export function Names({ names, shown = 3 }: { names: readonly string[]; shown?: number }) {
  const [some, more] = [names.slice(0, shown), names.length - shown]
  const separatorBefore = (at: number) => {
    if (at === 0) return ''
    return at === some.length - 1 && more <= 0 ? ' and ' : ', '
  }
  return (
    <>
      {some.map((name, at) => (
        <Fragment key={name}>
          {separatorBefore(at)}
          <bdi>{name}</bdi>
        </Fragment>
      ))}
      {more > 0 && ` and ${formatNumber(more)} more`}
    </>
  )
}
