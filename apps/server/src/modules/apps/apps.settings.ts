import type { App } from '@keyward/contract'
import type { AppRow } from '../../db/tables.ts'

type Settings = App['settings']

/** The column of each setting that is on or off. */
const flags = {
  hwidLock: 'hwid_lock',
  allowCustomLicenseKey: 'allow_custom_keys',
  requireHwid: 'require_hwid',
} as const satisfies Partial<Record<keyof Settings, keyof AppRow>>

type FlagColumn = (typeof flags)[keyof typeof flags]
export type SettingColumns = Pick<AppRow, FlagColumn>

const flagNames = Object.keys(flags) as (keyof typeof flags)[]

export const toSettings = (row: SettingColumns): Settings =>
  Object.fromEntries(flagNames.map((name) => [name, row[flags[name]] === 1])) as unknown as Settings

/** The columns of the settings that are given. */
export const toSettingColumns = (
  given: {
    [Name in keyof Settings]?: Settings[Name] | undefined
  },
): Partial<SettingColumns> =>
  Object.fromEntries(
    flagNames.flatMap((name) => (given[name] === undefined ? [] : [[flags[name], given[name] ? 1 : 0]])),
  )
