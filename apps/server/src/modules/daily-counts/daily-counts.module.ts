import type { Module } from '../module.ts'

export const dailyCounts: Module = {
  tables: {
    daily_counts: { key: ['app_id', 'metric', 'day'], isOfApp: true },
  },
}
