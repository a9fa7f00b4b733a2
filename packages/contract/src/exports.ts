import { actionLabels } from './action-labels.ts'
import type { ActionName } from './actions.ts'
import type { AuditRecord } from './audit.ts'
import type { Client } from './clients.ts'
import { unlimited } from './constants.ts'
import { type CsvValue, toCsvLine } from './csv.ts'
import type { ExposedCustomer } from './exposure.ts'
import type { ImportReportRow } from './imports.ts'
import type { License } from './licenses.ts'
import type { PortalLicense } from './portal.ts'

/** The columns of a CSV export by their names, in the order of the file. */
export type ExportColumns<Row> = Record<string, (row: Row) => CsvValue>

const textOrNull = (value: number | null) => (value === null ? null : String(value))

/** Further columns of exports and imports of licenses: the terms of each license. */
export const termsExport = {
  term: ({ term }) => term,
  duration: ({ duration }) => duration && `${duration.value} ${duration.unit}`,
  startedAt: ({ startedAt }) => startedAt,
  graceDays: ({ graceDays }) => String(graceDays),
  devices: ({ devices }) => (devices === unlimited ? 'unlimited' : String(devices)),
  seats: ({ seats }) => textOrNull(seats),
  seatTimeoutSeconds: ({ seatTimeoutSeconds }) => String(seatTimeoutSeconds),
  features: ({ features }) => features.join(' '),
  updatesForDays: ({ updatesForDays }) => textOrNull(updatesForDays),
  trial: ({ trial }) => trial,
  type: ({ type }) => type?.name ?? null,
} satisfies ExportColumns<License>

export type TermsColumn = keyof typeof termsExport

export const licenseExport: ExportColumns<License> = {
  key: (license) => license.key,
  app: (license) => license.app.name,
  appId: (license) => license.app.appId,
  status: (license) => license.status,
  used: (license) => license.used,
  usedBy: (license) => license.usedBy?.username ?? null,
  usedAt: (license) => license.usedAt,
  banned: (license) => license.banned,
  note: (license) => license.note,
  reseller: (license) => license.reseller?.email ?? null,
  createdAt: (license) => license.createdAt,
  expiresAt: (license) => license.expiresAt,
  _id: (license) => license._id,
  ...termsExport,
  banReason: (license) => license.banReason,
  test: (license) => license.test,
}

export const clientExport: ExportColumns<Client> = {
  username: (client) => client.username,
  email: (client) => client.email,
  app: (client) => client.app.name,
  appId: (client) => client.app.appId,
  status: (client) => client.status,
  banned: (client) => client.ban,
  hwid: (client) => client.hwid,
  licenseKey: (client) => client.licenseKey,
  createdAt: (client) => client.createdAt,
  expiresAt: (client) => client.expiresAt,
  lastLoginAt: (client) => client.lastLoginAt,
  _id: (client) => client._id,
  graceDays: (client) => String(client.graceDays),
  testLicense: (client) => client.testLicense,
}

/** The last column of CSV exports for callers who may read customers. */
export const customerExport: ExportColumns<{ customerEmail: string | null }> = {
  customer: ({ customerEmail }) => customerEmail,
}

export const portalLicenseExport: ExportColumns<PortalLicense> = {
  key: (license) => license.key,
  app: (license) => license.app.name,
  status: (license) => license.status,
  used: (license) => license.used,
  usedBy: (license) => license.usedBy,
  createdAt: (license) => license.createdAt,
  expiresAt: (license) => license.expiresAt,
  _id: (license) => license._id,
  term: ({ term }) => term,
  duration: ({ duration }) => duration && `${duration.value} ${duration.unit}`,
  startedAt: ({ startedAt }) => startedAt,
  banned: ({ banned }) => banned,
  note: ({ note }) => note,
}

export const exposedCustomerExport: ExportColumns<ExposedCustomer> = {
  email: ({ email }) => email,
  devices: ({ devices }) => String(devices),
  lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
  toldAt: ({ toldAt }) => toldAt,
  _id: ({ _id }) => _id,
}

export const auditExport: ExportColumns<AuditRecord> = {
  at: (record) => record.at,
  actorKind: ({ actor }) => actor.kind,
  actor: ({ actor }) => actor.name,
  actorId: ({ actor }) => actor._id,
  what: ({ action }) => actionLabels[action as ActionName] ?? action,
  action: (record) => record.action,
  subjectKind: ({ subject }) => subject?.kind ?? null,
  subject: ({ subject }) => subject?.name ?? null,
  subjectId: ({ subject }) => subject?._id ?? null,
  app: ({ app }) => app?.name ?? null,
  appId: ({ app }) => app?.appId ?? null,
  address: (record) => record.address,
  detail: ({ detail }) => detail && JSON.stringify(detail),
  _id: (record) => record._id,
}

export const toExportHeader = <Row>(columns: ExportColumns<Row>): string => toCsvLine(Object.keys(columns))

export const toExportLine = <Row>(columns: ExportColumns<Row>, row: Row): string =>
  toCsvLine(Object.values(columns).map((read) => read(row)))

export const importReportExport: ExportColumns<ImportReportRow> = {
  row: ({ row }) => String(row),
  file: ({ file }) => file,
  line: ({ line }) => String(line),
  kind: ({ kind }) => kind,
  name: ({ name }) => name,
  outcome: ({ outcome }) => outcome,
  message: ({ message }) => message,
  licenseId: ({ licenseId }) => licenseId,
  clientId: ({ clientId }) => clientId,
}
