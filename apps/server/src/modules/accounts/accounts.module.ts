import type { Module } from '../module.ts'

export const accounts: Module = {
  tables: {
    accounts: {},
  },
}
