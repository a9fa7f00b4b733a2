import { type Wire, wire } from '../../lib/api/wire.ts'
import { setTheme, type Theme } from '../../lib/browser/theme.ts'
import { appTabPath, appTabs } from '../../lib/navigation/app-tabs.ts'
import { type ConsolePage, mayVisit, pages } from '../../lib/navigation/pages.ts'
import { appPath, paths } from '../../lib/navigation/paths.ts'

export const control = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '') ? '⌘' : 'Ctrl'

export interface CommandFacts {
  apps: readonly { _id: string; name: string; appId: string }[]
  /** False when the plan's app limit is reached. */
  canCreateApp: boolean
  may: (...calls: readonly Wire[]) => boolean
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
    .map(({ value, tab, label, words }) => ({
      id: `app-${app._id}-${value}`,
      group: 'Apps',
      label: `${app.name}: ${tab === label ? tab : `${tab}, ${label}`}`,
      icon: 'app',
      words: `${app.appId} ${words}`,
      named: `${tab} ${label} ${words}`,
      to: appTabPath(app._id, value),
    }))

const otherPages = [
  { path: paths.docs, label: 'API Docs' },
  { path: paths.about, label: 'About' },
  { path: paths.terms, label: 'Terms' },
  { path: paths.privacy, label: 'Privacy' },
]

/** What the palette alone knows of a page. */
interface Words {
  /** Additional search terms. */
  words?: string
  /** The label and the search terms of the dialog that creates something on the page. */
  create?: string
  createWords?: string
}

const wordsOf: Record<string, Words> = {
  [paths.dashboard]: {
    words: 'home apps applications overview',
    create: 'Create app',
    createWords: 'new add application',
  },
  [paths.resellers]: { create: 'Create reseller', createWords: 'new add' },
  [paths.licenses]: { words: 'keys export csv', create: 'Generate license', createWords: 'new create key' },
  [paths.imports]: {
    words: 'move from another system keyauth keygen files upload migrate',
    create: 'Import licenses',
    createWords: 'new csv upload keys move migrate files from another system',
  },
  [paths.orders]: { words: 'shops purchases payments refunds waiting buyers' },
  [paths.sales]: { words: 'revenue refunds figures export csv' },
  [paths.users]: { words: 'clients export csv', create: 'Create end user', createWords: 'new add client' },
  [paths.customers]: {
    words: 'buyers people export erase',
    create: 'Add customer',
    createWords: 'new create buyer',
  },
  [paths.activity]: { words: 'events log refusals references why' },
  [paths.profile]: { words: 'account password email' },
  [paths.security]: {
    words: 'second factor two totp authenticator passkeys recovery codes sessions devices account',
  },
  [paths.settings]: { words: 'theme pause hwid reset' },
  [paths.apiKeys]: {
    words: 'token script curl automation integration',
    create: 'Create API key',
    createWords: 'new token',
  },
  [paths.notifications]: { words: 'mail alerts weekly summary sign-ins' },
  [paths.integrations]: {
    words: 'webhooks events discord automation agents mcp openapi deliveries',
    create: 'Create webhook',
    createWords: 'new add event discord',
  },
  [paths.members]: {
    words: 'team people roles invite colleagues',
    create: 'Invite member',
    createWords: 'new add team people colleague',
  },
  [paths.audit]: { words: 'log history changes who did what records export csv' },
  [paths.subscription]: { words: 'plan premium upgrade billing' },
  [paths.docs]: { words: 'reference documentation openapi' },
}

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

const orTyped = 'or type a name or a key after it'

/** What people come to do, by its verb. */
const deeds: (Pick<Command, 'group' | 'label' | 'words' | 'detail'> & {
  to: string
  call: Wire
  needsApp?: true
})[] = [
  {
    group: 'Create',
    label: 'New sale',
    words: 'sell order mail key',
    to: `${paths.licenses}?dialog=new-sale`,
    call: wire.licenses.create,
    needsApp: true,
  },
  {
    group: 'Actions',
    label: 'Extend licenses',
    detail: orTyped,
    to: paths.licenses,
    call: wire.bulk.licenses,
    needsApp: true,
  },
  {
    group: 'Actions',
    label: 'Ban a license',
    detail: orTyped,
    to: paths.licenses,
    call: wire.licenses.toggleBan,
    needsApp: true,
  },
  {
    group: 'Actions',
    label: 'Pause all applications',
    to: `${paths.settings}?dialog=pause-applications`,
    call: wire.settings.update,
  },
  {
    group: 'Actions',
    label: 'Change business profile',
    words: 'logo name support face',
    to: `${paths.settings}?profile`,
    call: wire.profiles.update,
  },
]

export function commandsFor(facts: CommandFacts): Command[] {
  const { apps, canCreateApp, may, links, onToggleSidebar, onLogout, onShortcuts } = facts
  const open = pages.filter(({ path, needsApp }) => (apps.length > 0 || !needsApp) && mayVisit(may, path))
  return [
    ...[...open, ...otherPages].map(
      ({ path, label, key }: Pick<ConsolePage, 'path' | 'label' | 'key'>): Command => ({
        id: `go-${path}`,
        group: 'Go to',
        label,
        icon: 'page',
        words: wordsOf[path]?.words ?? '',
        to: path,
        keys: key && `G ${key.toUpperCase()}`,
      }),
    ),
    ...open
      .filter(({ path, create }) => create && may(create.call) && (path !== paths.dashboard || canCreateApp))
      .map(
        ({ path, create }): Command => ({
          id: `create-${path}`,
          group: 'Create',
          label: wordsOf[path]?.create ?? 'Create',
          icon: 'create',
          words: wordsOf[path]?.createWords ?? '',
          to: `${path}?dialog=${create!.dialog}`,
        }),
      ),
    ...deeds
      .filter(({ call, needsApp }) => may(call) && (apps.length > 0 || !needsApp))
      .map(({ call: _, needsApp: __, ...deed }): Command => ({ id: deed.label, icon: 'create', ...deed })),
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
