import { useMay } from '../api/rights.tsx'
import { type Wire, wire } from '../api/wire.ts'
import { appPath } from './paths.ts'

interface AppTab {
  value: string
  /** The tab of the page. Several of one tab are tabs in it. */
  tab: string
  label: string
  /** Additional search terms. */
  words: string
  /** The call without which it has nothing to show. */
  call: Wire
}

/** What an app's page shows, in `?tab=`. */
export const appTabs = [
  {
    value: 'overview',
    tab: 'Overview',
    label: 'Overview',
    words: 'facts figures activity',
    call: wire.apps.get,
  },
  {
    value: 'types',
    tab: 'Types',
    label: 'Types',
    words: 'license types plans terms',
    call: wire.licenseTypes.list,
  },
  {
    value: 'shops',
    tab: 'Shops',
    label: 'Shops',
    words: 'sell orders products stripe paddle lemon squeezy gumroad hook',
    call: wire.shops.list,
  },
  {
    value: 'customers',
    tab: 'Customers',
    label: 'Page',
    words: 'profile business name logo support help brand customer page preview color',
    call: wire.profiles.getOfApp,
  },
  {
    value: 'mail',
    tab: 'Customers',
    label: 'Mails',
    words: 'email buyers keys template text html languages test',
    call: wire.appMails.get,
  },
  {
    value: 'integration',
    tab: 'Program',
    label: 'Integration',
    words: 'snippet sdk code public key keyauth compatibility migration',
    call: wire.apps.get,
  },
  {
    value: 'variables',
    tab: 'Program',
    label: 'Variables',
    words: 'texts signed',
    call: wire.variables.app,
  },
  {
    value: 'releases',
    tab: 'Program',
    label: 'Releases',
    words: 'versions updates',
    call: wire.releases.list,
  },
  {
    value: 'settings',
    tab: 'Settings',
    label: 'Settings',
    words: 'app settings security hwid lock offline blocking signing keys rotate secret vpn',
    call: wire.signingKeys.list,
  },
  {
    value: 'texts',
    tab: 'Settings',
    label: 'Error Messages',
    words: 'texts languages translations',
    call: wire.apps.getErrorMessages,
  },
  {
    value: 'history',
    tab: 'History',
    label: 'History',
    words: 'timeline changes audit log',
    call: wire.audit.list,
  },
] as const satisfies readonly AppTab[]

export type AppTabName = (typeof appTabs)[number]['value']

/** What the signed-in person may read of an app's page. */
export function useAppTabs() {
  const may = useMay()
  return appTabs.filter(({ call }) => may(call))
}

export const appTabPath = (id: string, tab: AppTabName) =>
  tab === 'overview' ? appPath(id) : `${appPath(id)}?tab=${tab}`

/** The tabs that replace dialogs: links to them from before still work. */
const tabOfDialog: Readonly<Record<string, AppTabName>> = {
  'app-settings': 'settings',
  blocking: 'settings',
  integrate: 'integration',
  'license-types': 'types',
  releases: 'releases',
  'signing-keys': 'settings',
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
