import { useMay } from '../api/rights.tsx'
import { type Wire, wire } from '../api/wire.ts'
import { appPath } from './paths.ts'

interface AppTab {
  value: string
  label: string
  /** Additional search terms. */
  words: string
  /** The call without which the tab has nothing to show. */
  call: Wire
}

/** The tabs of an app's page, in `?tab=`. */
export const appTabs = [
  { value: 'overview', label: 'Overview', words: 'facts figures activity', call: wire.apps.get },
  { value: 'types', label: 'Types', words: 'license types plans terms', call: wire.licenseTypes.list },
  {
    value: 'shops',
    label: 'Shops',
    words: 'sell orders products stripe paddle lemon squeezy gumroad hook',
    call: wire.shops.list,
  },
  { value: 'releases', label: 'Releases', words: 'versions updates', call: wire.releases.list },
  { value: 'variables', label: 'Variables', words: 'texts signed', call: wire.variables.app },
  {
    value: 'texts',
    label: 'Texts',
    words: 'error messages languages translations',
    call: wire.apps.getErrorMessages,
  },
  {
    value: 'customers',
    label: 'Customers',
    words: 'profile business name logo support help brand customer page preview',
    call: wire.profiles.getOfApp,
  },
  {
    value: 'mail',
    label: 'Mail',
    words: 'email buyers keys template text html languages test',
    call: wire.appMails.get,
  },
  {
    value: 'security',
    label: 'Security',
    words: 'app settings hwid lock offline blocking signing keys rotate secret vpn customer page',
    call: wire.signingKeys.list,
  },
  {
    value: 'integration',
    label: 'Integration',
    words: 'snippet sdk code public key keyauth compatibility migration',
    call: wire.apps.get,
  },
  { value: 'history', label: 'History', words: 'timeline changes audit log', call: wire.audit.list },
] as const satisfies readonly AppTab[]

export type AppTabName = (typeof appTabs)[number]['value']

/** The tabs that the signed-in person may read. */
export function useAppTabs() {
  const may = useMay()
  return appTabs.filter(({ call }) => may(call))
}

export const appTabPath = (id: string, tab: AppTabName) =>
  tab === 'overview' ? appPath(id) : `${appPath(id)}?tab=${tab}`

/** The tabs that replace dialogs: links to them from before still work. */
const tabOfDialog: Readonly<Record<string, AppTabName>> = {
  'app-settings': 'security',
  blocking: 'security',
  integrate: 'integration',
  'license-types': 'types',
  releases: 'releases',
  'signing-keys': 'security',
  variables: 'variables',
}

/** Where a link to a former dialog of an app leads; undefined for every other dialog. */
export function pathOfFormerDialog(url: {
  dialog: string | undefined
  id: string | undefined
  tab: string | undefined
}): string | undefined {
  const { dialog = '', id, tab } = url
  const name = dialog === 'app-settings' && tab === 'messages' ? 'texts' : tabOfDialog[dialog]
  return name && id ? appTabPath(id, name) : undefined
}
