import type { Migration } from '../migrate.ts'

/** Types say where people buy again, and apps where people without a license buy. */
export const buyLinks: Migration = {
  name: '0104-buy-links',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `alter table license_types add column buy_url ${t}`,
      `alter table license_types add column renew_url ${t}`,
      `alter table license_types add column upgrades ${t} not null default '[]'`,
      'alter table license_types add column fallback_after_months integer',
      `alter table apps add column buy_url ${t}`,
      'alter table apps add column type_links integer not null default 0',
    ]
  },
}
