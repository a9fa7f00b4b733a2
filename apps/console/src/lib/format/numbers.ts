const numberFormat = new Intl.NumberFormat('en-US')

/** '1,200', in the one format of the console's English sentences. */
export function formatNumber(value: number): string
export function formatNumber(value: number | undefined): string | undefined
export function formatNumber(value: number | undefined): string | undefined {
  return value === undefined ? undefined : numberFormat.format(value)
}
