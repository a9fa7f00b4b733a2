import { setTheme, type Theme } from '../../lib/browser/theme.ts'
import { appTabPath, appTabs } from '../../lib/navigation/app-tabs.ts'
import { appPath, paths } from '../../lib/navigation/paths.ts'
import { createDialogs, goToKeys, type May, mayVisit, needApp } from './shortcut-targets.ts'

export const control = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '') ? '⌘' : 'Ctrl'

export interface CommandFacts {
  apps: readonly { _id: string; name: string; appId: string }[]
  /** False when the plan's app limit is reached. */
  canCreateApp: boolean
  may: May
  /** Names what the browser remembers, of placeOf. */
  place: string
  /** The operator's pages outside of the console. */
  links: readonly { label: string; href: string }[]
  onToggleSidebar: () => void
  onLogout: () => void
  onShortcuts: () => void
}

export type CommandIcon =
  | 'page'
  | 'create'
  | 'app'
  | 'license'
  | 'user'
  | 'customer'
  | 'order'
  | 'reseller'
  | 'account'
  | 'theme'
  | 'sidebar'
  | 'outside'
  | 'keys'
  | 'leave'

export interface Command {
  id: string
  group: string
  label: string
  icon: CommandIcon
  /** Shown next to the label. */
  detail?: string | undefined
  /** Additional search terms. */
  words?: string
  /** Listed only if a word of the search starts one of these. */
  named?: string
  /** The equivalent shortcut. */
  keys?: string
  /** A path to navigate to; otherwise `act` runs. */
  to?: string
  act?: () => void
}

export const toAppCommand = (app: CommandFacts['apps'][number]): Command => ({
  id: `app-${app._id}`,
  group: 'Apps',
  label: app.name,
  detail: app.appId,
  icon: 'app',
  words: `${app._id} app settings`,
  to: appPath(app._id),
})

/** The tabs of an app's page, which the palette lists only for a search that names one. */
const toTabCommands = (app: CommandFacts['apps'][number], may: CommandFacts['may']): Command[] =>
  appTabs
    .filter(({ value, call }) => value !== 'overview' && may(call))
    .map(({ value, label, words }) => ({
      id: `app-${app._id}-${value}`,
      group: 'Apps',
      label: `${app.name}: ${label}`,
      icon: 'app',
      words: `${app.appId} ${words}`,
      named: `${label} ${words}`,
      to: appTabPath(app._id, value),
    }))

const pages: { label: string; to: string; words?: string }[] = [
  { label: 'Dashboard', to: paths.dashboard, words: 'home apps applications overview' },
  { label: 'Licenses', to: paths.licenses, words: 'keys' },
  {
    label: 'Imports',
    to: paths.imports,
    words: 'move from another system keyauth keygen files upload migrate',
  },
  { label: 'Orders', to: paths.orders, words: 'shops purchases payments refunds waiting buyers' },
  { label: 'End Users', to: paths.users, words: 'clients' },
  { label: 'Customers', to: paths.customers, words: 'buyers people export erase' },
  { label: 'Activity', to: paths.activity, words: 'events log refusals references why' },
  { label: 'Resellers', to: paths.resellers },
  { label: 'Profile', to: paths.profile, words: 'account password email' },
  {
    label: 'Security',
    to: paths.security,
    words: 'second factor two totp authenticator passkeys recovery codes sessions devices account',
  },
  { label: 'Settings', to: paths.settings, words: 'theme pause hwid reset' },
  { label: 'API Keys', to: paths.apiKeys, words: 'token script curl automation integration' },
  { label: 'Notifications', to: paths.notifications, words: 'mail alerts weekly summary sign-ins' },
  {
    label: 'Integrations',
    to: paths.integrations,
    words: 'webhooks events discord automation agents mcp openapi deliveries',
  },
  { label: 'Members', to: paths.members, words: 'team people roles invite colleagues' },
  { label: 'Audit', to: paths.audit, words: 'log history changes who did what records' },
  { label: 'Subscription', to: paths.subscription, words: 'plan premium upgrade billing' },
  { label: 'API Docs', to: paths.docs, words: 'reference documentation openapi' },
  { label: 'About', to: paths.about },
  { label: 'Terms', to: paths.terms },
  { label: 'Privacy', to: paths.privacy },
]

const creations = [
  { label: 'Create app', path: paths.dashboard, words: 'new add application' },
  { label: 'Generate license', path: paths.licenses, words: 'new create key' },
  {
    label: 'Import licenses',
    path: paths.imports,
    words: 'new csv upload keys move migrate files from another system',
  },
  { label: 'Create end user', path: paths.users, words: 'new add client' },
  { label: 'Add customer', path: paths.customers, words: 'new create buyer' },
  { label: 'Create reseller', path: paths.resellers, words: 'new add' },
  { label: 'Create API key', path: paths.apiKeys, words: 'new token' },
  { label: 'Create webhook', path: paths.integrations, words: 'new add event discord' },
  { label: 'Invite member', path: paths.members, words: 'new add team people colleague' },
]

const themes: { theme: Theme; label: string }[] = [
  { theme: 'light', label: 'Light theme' },
  { theme: 'dark', label: 'Dark theme' },
  { theme: 'system', label: 'System theme' },
]

const toOutside = ({ label, href }: CommandFacts['links'][number]): Command => ({
  id: `outside-${label}`,
  group: 'Console',
  label,
  icon: 'outside',
  words: 'open tab',
  act: () => window.open(href, '_blank', 'noopener'),
})

export function commandsFor(facts: CommandFacts): Command[] {
  const { apps, canCreateApp, may, links, onToggleSidebar, onLogout, onShortcuts } = facts
  const isOpen = (path: string) => (apps.length > 0 || !needApp.includes(path)) && mayVisit(may, path)
  const mayCreate = (path: string) => may(...(createDialogs[path] ? [createDialogs[path].call] : []))
  const keyOf = (path: string) => Object.keys(goToKeys).find((key) => goToKeys[key] === path)
  return [
    ...pages
      .filter(({ to }) => isOpen(to))
      .map(({ label, to, words }): Command => {
        const key = keyOf(to)
        const group = 'Go to'
        return {
          id: `go-${to}`,
          group,
          label,
          icon: 'page',
          words,
          to,
          keys: key && `G ${key.toUpperCase()}`,
        }
      }),
    ...creations
      .filter(({ path }) => isOpen(path) && mayCreate(path) && (path !== paths.dashboard || canCreateApp))
      .map(({ label, path, words }): Command => {
        const to = `${path}?dialog=${createDialogs[path]?.dialog}`
        return { id: `create-${path}`, group: 'Create', label, icon: 'create', words, to }
      }),
    ...apps.flatMap((app) => [toAppCommand(app), ...toTabCommands(app, may)]),
    ...(['password', 'email'] as const).map(
      (what): Command => ({
        id: `change-${what}`,
        group: 'Console',
        label: `Change ${what}`,
        icon: 'account',
        words: 'update profile account',
        to: `${paths.profile}?dialog=change-${what}`,
      }),
    ),
    ...themes.map(
      ({ theme, label }): Command => ({
        id: `theme-${theme}`,
        group: 'Console',
        label,
        icon: 'theme',
        words: 'switch appearance mode',
        act: () => setTheme(theme),
      }),
    ),
    {
      id: 'sidebar',
      group: 'Console',
      label: 'Expand or collapse the sidebar',
      icon: 'sidebar',
      words: 'toggle menu navigation',
      keys: `${control} B`,
      act: onToggleSidebar,
    },
    toOutside({ label: 'Reseller portal', href: paths.resellerAuth }),
    ...links.map(toOutside),
    {
      id: 'shortcuts',
      group: 'Console',
      label: 'Keyboard shortcuts',
      icon: 'keys',
      keys: '?',
      act: onShortcuts,
    },
    { id: 'logout', group: 'Console', label: 'Log out', icon: 'leave', words: 'sign out', act: onLogout },
  ]
}

const isNamed = (names: string, wanted: readonly string[]) =>
  names
    .toLowerCase()
    .split(' ')
    .some((name) => wanted.some((word) => word.length > 2 && name.startsWith(word)))

/** The commands that contain every word of the text. Labels that start with the text come first. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return commands.filter(({ group }) => group !== 'Apps')
  const rank = ({ label }: Command) => (label.toLowerCase().startsWith(wanted[0] ?? '') ? 0 : 1)
  return commands
    .filter(({ group }) => group !== 'Recent')
    .filter(({ named }) => named === undefined || isNamed(named, wanted))
    .filter(({ group, label, detail = '', words = '' }) => {
      const all = `${group} ${label} ${detail} ${words}`.toLowerCase()
      return wanted.every((word) => all.includes(word))
    })
    .toSorted((a, b) => rank(a) - rank(b))
}
