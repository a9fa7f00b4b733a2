import { formatAmount, type SaleKind } from '@keyward/contract'
import { Download, TrendingUp } from 'lucide-react'
import { useNavigate } from 'react-router'
import { useSales } from '../../features/sales/queries.ts'
import { chosenRange, presetLabels, presets, rangeBefore, timeZone } from '../../features/sales/ranges.ts'
import { SalesCards } from '../../features/sales/sales-cards.tsx'
import { SalesGroups } from '../../features/sales/sales-groups.tsx'
import { useApp, useAppFilter, useApps } from '../../lib/api/apps.ts'
import { serverNow } from '../../lib/api/server-time.ts'
import { wire } from '../../lib/api/wire.ts'
import { formatDate, toDayInput } from '../../lib/format/dates.ts'
import { toId } from '../../lib/list/url-values.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { useUrlState } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Choice } from '../../ui/choice.tsx'
import { FilterBar, FilterDays, FilterSelect } from '../../ui/filters.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, EmptyState, QueryError } from '../../ui/states.tsx'
import { NoApps } from './no-apps.tsx'

const dayName = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const dateOf = (day: string) => formatDate(`${day}T23:59:59.999Z`)

/** What shops took and gave back: each number and each day opens its orders. */
export function SalesPage() {
  const apps = useApps()
  const [url, setUrl] = useUrlState('app', 'range', 'from', 'to', 'currency')
  const { app, resolving, unresolved } = useApp(toId(url.app))
  const appFilter = useAppFilter(apps.data ?? [], app)
  const navigate = useNavigate()
  const { preset, ...range } = chosenRange(url, toDayInput(new Date(serverNow())))
  const before = rangeBefore(range)
  const query = { app: app?._id, ...range, timeZone }
  const sales = useSales(query, !resolving)
  const earlier = useSales({ ...query, ...before }, !resolving).data
  const data = resolving ? undefined : sales.data
  const currencies = [
    ...new Set([...(data?.currencies ?? []), ...(earlier?.currencies ?? [])].map((one) => one.currency)),
  ]
  const nameOf = (currency: string | null) => currency ?? 'none'
  const chosen = currencies.find((one) => nameOf(one) === url.currency) ?? currencies[0] ?? null
  const isChosen = (one: { currency: string | null }) => one.currency === chosen
  const toOrders = (more: Record<string, string | undefined>) =>
    listOf({ app: app?._id, ...range, timeZone, currency: chosen ?? '', ...more })
  const dueUntil = data && toDayInput(new Date(data.renewalsDue.until))
  const header = (
    <PageHeader
      title="Sales"
      subtitle="What your shops took and gave back, in your time zone. Each number opens its orders."
      actions={
        <Button disabled={!data} onClick={exportCsv}>
          <Download />
          Export CSV
        </Button>
      }
    />
  )
  if (apps.data?.length === 0)
    return (
      <div className="grid gap-3 md:gap-6">
        {header}
        <NoApps icon={<TrendingUp />} reason="A shop sells licenses of an app." />
      </div>
    )

  return (
    <div className="grid gap-3 md:gap-6">
      {header}
      <Card>
        <CardHeader
          title={`${dateOf(range.from)} – ${dateOf(range.to)}`}
          description={`Compared with ${dateOf(before.from)} – ${dateOf(before.to)}. Days of ${timeZone}.`}
          stacked
          filters
          actions={
            <FilterBar values={{ app: url.app, from: url.from }}>
              <FilterSelect {...appFilter} value={app?._id} onChange={(id) => setUrl({ app: id })} />
              <FilterSelect
                label="Days"
                unset={preset === undefined ? 'Chosen days' : presetLabels.month}
                options={presets
                  .filter((one) => one !== 'month' || preset === undefined)
                  .map((one) => ({ value: one, label: presetLabels[one] }))}
                value={preset === 'month' ? undefined : preset}
                onChange={(wanted) => setUrl({ range: wanted, from: undefined, to: undefined })}
              />
              <FilterDays
                values={range}
                onChange={(changes) => setUrl({ range: undefined, ...range, ...changes })}
              />
            </FilterBar>
          }
        />
        {currencies.length > 1 && (
          <CardBody>
            <Choice
              label="Currency"
              value={nameOf(chosen)}
              onChange={(currency) => setUrl({ currency })}
              options={currencies.map((one) => ({ value: nameOf(one), label: one ?? 'No currency' }))}
              className="max-w-md"
            />
          </CardBody>
        )}
      </Card>
      {(unresolved ?? sales).isError && !data && (
        <Card>
          <QueryError query={unresolved ?? sales} title="Failed to load the sales" />
        </Card>
      )}
      {data?.counting && (
        <Callout tone="neutral" title="Earlier orders are being counted">
          The numbers grow until all orders from before the last update are in them.
        </Callout>
      )}
      <SalesCards
        currency={chosen}
        now={data?.currencies.find(isChosen)}
        before={earlier?.currencies.find(isChosen)}
        compared="in the days before"
        due={data?.renewalsDue.currencies.find(isChosen)}
        loading={!data}
        toOrders={(sale?: SaleKind) => toOrders({ sale })}
        toEarlier={(sale?: SaleKind) => toOrders({ sale, ...before })}
        toDue={toOrders({ sale: 'due', from: toDayInput(new Date(serverNow())), to: dueUntil })}
      />
      <Card>
        <CardHeader title="Day by Day" description="A click on a day opens its orders" />
        <CardBody>
          {!data && <Skeleton className="h-56" />}
          {data && !data.currencies.some(isChosen) && (
            <EmptyState
              className="py-8"
              icon={<TrendingUp />}
              title="Nothing was sold in these days"
              description="Orders of your shops appear here by the day on which they were paid."
            />
          )}
          {data?.currencies.some(isChosen) && (
            <LineChart
              caption="Revenue and refunds by day"
              labelHeading="Day"
              labels={data.days.map(({ date }) => dayName.format(new Date(date)))}
              series={[
                { name: 'Revenue', values: valuesOf('revenue') },
                { name: 'Refunded', values: valuesOf('refunded') },
              ]}
              format={(value) => formatAmount(value, chosen)}
              onPick={(at) => {
                const date = data.days[at]?.date
                if (date) navigate(toOrders({ from: date, to: date }))
              }}
            />
          )}
        </CardBody>
      </Card>
      {data && (
        <div className="grid items-start gap-3 md:gap-6 xl:grid-cols-2">
          <SalesGroups
            title="By Product"
            noun="Product"
            groups={data.products.filter(isChosen).map(({ product, ...figures }) => ({
              ...{ id: product ?? '', name: product ?? 'Several products', ...figures },
              toOrders: (sale) => toOrders({ product: product ?? '', sale }),
            }))}
          />
          <SalesGroups
            title="By Shop"
            noun="Shop"
            groups={data.shops.filter(isChosen).map(({ shop, ...figures }) => ({
              ...{ id: shop._id, name: shop.deleted ? `${shop.name} (deleted)` : shop.name, ...figures },
              toOrders: (sale) => toOrders({ shop: shop._id, sale }),
            }))}
          />
        </div>
      )}
    </div>
  )

  function valuesOf(figure: 'revenue' | 'refunded'): number[] {
    return (data?.days ?? []).map(({ currencies: own }) => own.find(isChosen)?.[figure] ?? 0)
  }

  async function exportCsv() {
    const { saveExport } = await import('../../ui/save-export.ts')
    const file = { ...query, format: 'csv' }
    await saveExport({ endpoint: wire.sales.export, query: file, noun: 'lines', total: undefined })
  }
}

/** The list of orders; an empty filter means none of it. */
function listOf(filters: Record<string, string | undefined>): string {
  const query = new URLSearchParams(
    Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  return `${listPath(paths.orders, {})}?${query}`
}
