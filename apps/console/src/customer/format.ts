/** Fills the placeholders of a text. */
export const fill = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole))

const day = 86_400_000

/** Dates and numbers as they are written in a language. */
export function formats(locale: string) {
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
  const dateAndTime = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
  const number = new Intl.NumberFormat(locale)
  return {
    date: (value: string | number) => date.format(new Date(value)),
    /** A moment: with the time if it is within two days. */
    moment: (value: string) =>
      (Math.abs(Date.parse(value) - Date.now()) < 2 * day ? dateAndTime : date).format(new Date(value)),
    number: (value: number) => number.format(value),
    duration: ({ value, unit }: { value: number; unit: 'hours' | 'days' | 'months' | 'years' }) =>
      new Intl.NumberFormat(locale, { style: 'unit', unit: unit.slice(0, -1), unitDisplay: 'long' }).format(
        value,
      ),
    money: (smallestUnits: number, currency: string) => {
      // A shop of the vendor's own may name anything.
      if (!/^[A-Za-z]{3}$/.test(currency)) return `${number.format(smallestUnits / 100)} ${currency}`
      const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
      const digits = format.resolvedOptions().maximumFractionDigits ?? 2
      return format.format(smallestUnits / 10 ** digits)
    },
    /** How long until then: `in 5 minutes`. */
    until: (seconds: number) => {
      const relative = new Intl.RelativeTimeFormat(locale)
      if (seconds < 90) return relative.format(Math.max(1, Math.ceil(seconds)), 'second')
      if (seconds < 90 * 60) return relative.format(Math.ceil(seconds / 60), 'minute')
      if (seconds < 36 * 3600) return relative.format(Math.ceil(seconds / 3600), 'hour')
      return relative.format(Math.ceil(seconds / 86_400), 'day')
    },
  }
}
