import type { ActionName, AuditRecord } from '@keyward/contract'
import { actionLabels } from '@keyward/contract/action-labels'
import { isLogged } from '@keyward/contract/logged-actions'
import { appTabPath } from '../../lib/navigation/app-tabs.ts'
import {
  appPath,
  customerPath,
  licensePath,
  listPath,
  paths,
  resellerPath,
  userPath,
} from '../../lib/navigation/paths.ts'

/** An action that a newer server records is shown by its name. */
export const labelOf = ({ action }: Pick<AuditRecord, 'action'>): string =>
  actionLabels[action as ActionName] ?? action.replaceAll(/[._]/g, ' ')

/** Coupons are the operator's, and no vendor has records of them. */
const isListed = (action: ActionName) => isLogged(action, 'owner') && !action.startsWith('coupon.')

/** The actions that a log can contain, for the filter. */
export const actionOptions: { value: ActionName; label: string }[] = (
  Object.entries(actionLabels) as [ActionName, string][]
)
  .filter(([action]) => isListed(action))
  .map(([value, label]) => ({ value, label }))
  .sort((a, b) => a.label.localeCompare(b.label))

export const toAction = (text: string | undefined): ActionName | undefined =>
  text !== undefined && Object.hasOwn(actionLabels, text) ? (text as ActionName) : undefined

const actorKinds: Record<string, string> = {
  owner: 'Owner',
  member: 'Member',
  api_key: 'API key',
  reseller: 'Reseller',
  program: 'Program',
  operator: 'Operator of the server',
  provider: 'Payment provider',
  shop: 'Shop',
  customer: 'Customer',
  system: 'The server',
  anonymous: 'Not signed in',
}

/** What kind of actor it is. */
export const kindOfActor = ({ kind }: AuditRecord['actor']): string => actorKinds[kind] ?? kind

/** Whether there is one actor of this kind, which has no name. */
export const isOnlyOne = ({ kind }: AuditRecord['actor']): boolean =>
  ['operator', 'provider', 'system', 'anonymous'].includes(kind)

const subjectKinds: Record<string, string> = {
  account: 'Account',
  vendor: 'Vendor account',
  api_key: 'API key',
  member: 'Member',
  app: 'App',
  license_type: 'License type',
  release: 'Release',
  license: 'License',
  end_user: 'User',
  device: 'Device',
  customer: 'Customer',
  block: 'Block',
  reseller: 'Reseller',
  webhook: 'Webhook',
  shop: 'Shop',
  shop_order: 'Order of a shop',
  order: 'Order',
  payment: 'Payment',
}

export const kindOfSubject = ({ kind }: { kind: string }): string => subjectKinds[kind] ?? kind

/** The page of a subject, if it has one and still exists. */
export function pathOf({ subject, app }: Pick<AuditRecord, 'subject' | 'app'>): string | undefined {
  if (!subject || subject.name === null || subject.deleted) return undefined
  switch (subject.kind) {
    case 'app':
      return app ? appPath(subject._id) : undefined
    case 'license':
      return licensePath(subject._id)
    case 'end_user':
      return userPath(subject._id)
    case 'shop':
      return app ? appTabPath(app._id, 'shops') : undefined
    case 'shop_order':
      return listPath(paths.orders, { search: subject.name })
    case 'customer':
      return customerPath(subject._id)
    case 'reseller':
      return resellerPath(subject._id)
    case 'member':
      return paths.members
    case 'api_key':
      return paths.apiKeys
    default:
      return undefined
  }
}
