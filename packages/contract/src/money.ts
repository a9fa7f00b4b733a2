/**
 * An amount in the currency's smallest unit as text, in the currency's usual style; whole amounts without decimals. A shop may
 * name anything as a currency, or nothing.
 */
export function formatAmount(amount: number, currency: string | null): string {
  if (currency === null || !/^[A-Za-z]{3}$/.test(currency))
    return [(amount / 100).toFixed(2), currency].filter((part) => part !== null).join(' ')
  const format = new Intl.NumberFormat(currency === 'INR' ? 'en-IN' : 'en-US', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    trailingZeroDisplay: 'stripIfInteger',
  })
  const { maximumFractionDigits: decimals = 2 } = format.resolvedOptions()
  return format.format(amount / 10 ** decimals)
}
