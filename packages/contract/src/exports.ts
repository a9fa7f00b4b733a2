import type { Client } from './clients.ts'
import { type CsvValue, toCsvLine } from './csv.ts'
import type { License } from './licenses.ts'
import type { PortalLicense } from './portal.ts'

/** The columns of a CSV export by their names, in the order of the file. */
export type ExportColumns<Row> = Record<string, (row: Row) => CsvValue>

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
}

export const toExportHeader = <Row>(columns: ExportColumns<Row>): string => toCsvLine(Object.keys(columns))

export const toExportLine = <Row>(columns: ExportColumns<Row>, row: Row): string =>
  toCsvLine(Object.values(columns).map((read) => read(row)))
