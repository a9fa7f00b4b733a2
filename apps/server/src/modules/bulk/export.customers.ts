import { customerExport, type ExportColumns } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import type { FileAnswer } from '../../core/answers.ts'
import { readPatiently } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listAddresses } from '../customers/customers.access.ts'
import { toFile } from './export.file.ts'

interface OfCustomer {
  customer: string | null
}

interface FileOptions<Row> {
  name: string
  format: 'csv' | 'json'
  columns: ExportColumns<Row>
}

/** A file of rows whose CSV has the addresses of customers, if the caller may read them. */
export function toFileWithCustomers<Row extends OfCustomer>(
  ctx: Ctx,
  actor: VendorActor,
  slices: AsyncGenerator<Row[]>,
  options: FileOptions<Row>,
): FileAnswer {
  const now = ctx.clock.now()
  if (options.format === 'json' || !actor.permissions.has('clients:read'))
    return toFile(slices, { ...options, now })
  const columns = { ...options.columns, ...customerExport }
  return toFile(nameCustomers(ctx, actor, slices), { ...options, columns, now })
}

async function* nameCustomers<Row extends OfCustomer>(
  ctx: Ctx,
  actor: VendorActor,
  slices: AsyncGenerator<Row[]>,
): AsyncGenerator<(Row & { customerEmail: string | null })[]> {
  for await (const rows of slices) {
    const ids = new Set(rows.flatMap(({ customer }) => customer ?? []))
    const addresses = await readPatiently(() => listAddresses(ctx.db, actor, [...ids]))
    yield rows.map((row) => ({ ...row, customerEmail: addresses.get(row.customer ?? '') ?? null }))
  }
}
