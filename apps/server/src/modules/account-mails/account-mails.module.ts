import type { Module } from '../module.ts'
import { AccountMails } from './account-mails.service.ts'

export const accountMails: Module = {
  tables: {
    known_devices: {},
  },
  parts: (parts) => ({ accountMails: new AccountMails(parts) }),
}
