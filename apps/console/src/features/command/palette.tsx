import {
  Bell,
  BookOpen,
  Box,
  ContactRound,
  CreditCard,
  ExternalLink,
  FileText,
  Fingerprint,
  FolderInput,
  History,
  Info,
  Keyboard,
  KeyRound,
  LayoutDashboard,
  LogOut,
  Monitor,
  Moon,
  PanelLeft,
  Plug,
  Plus,
  ScrollText,
  Settings,
  ShieldCheck,
  ShoppingCart,
  SquareTerminal,
  Store,
  Sun,
  SunMoon,
  TrendingUp,
  UserRound,
  Users,
  UsersRound,
} from 'lucide-react'
import { type ComponentType, useLayoutEffect, useMemo, useRef } from 'react'
import { createPortal } from 'react-dom'
import { useNavigate } from 'react-router'
import { mayVisit } from '../../lib/navigation/pages.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { cx } from '../../ui/cx.ts'
import { KeyText } from '../../ui/key-text.tsx'
import { type Command, type CommandFacts, type CommandIcon, commandsFor, matching } from './commands.ts'
import { Keys } from './keys.tsx'
import { setCommand, setOpened, useCommand } from './opened.ts'
import { recentCommands, rememberCommand } from './recent.ts'
import { resultsId } from './search.tsx'
import { readTicket } from './ticket.ts'
import { optionId, useOptions } from './use-options.ts'
import { useSearchResults } from './use-search-results.ts'

type Icon = ComponentType<{ className?: string; 'aria-hidden'?: boolean }>

const icons: Record<CommandIcon, Icon> = {
  page: FileText,
  create: Plus,
  app: Box,
  license: KeyRound,
  user: UserRound,
  customer: ContactRound,
  order: ShoppingCart,
  reseller: Store,
  account: UserRound,
  sidebar: PanelLeft,
  outside: ExternalLink,
  theme: SunMoon,
  keys: Keyboard,
  leave: LogOut,
}

/** Pages have the icons of the sidebar, themes those of the settings. */
const iconsById: Record<string, Icon> = {
  [`go-${paths.dashboard}`]: LayoutDashboard,
  [`go-${paths.licenses}`]: KeyRound,
  [`go-${paths.users}`]: Users,
  [`go-${paths.customers}`]: ContactRound,
  [`go-${paths.activity}`]: History,
  [`go-${paths.resellers}`]: Store,
  [`go-${paths.profile}`]: UserRound,
  [`go-${paths.security}`]: Fingerprint,
  [`go-${paths.settings}`]: Settings,
  [`go-${paths.apiKeys}`]: SquareTerminal,
  [`go-${paths.notifications}`]: Bell,
  [`go-${paths.integrations}`]: Plug,
  [`go-${paths.members}`]: UsersRound,
  [`go-${paths.audit}`]: ScrollText,
  [`go-${paths.imports}`]: FolderInput,
  [`go-${paths.orders}`]: ShoppingCart,
  [`go-${paths.sales}`]: TrendingUp,
  [`go-${paths.subscription}`]: CreditCard,
  [`go-${paths.docs}`]: BookOpen,
  [`go-${paths.about}`]: Info,
  [`go-${paths.privacy}`]: ShieldCheck,
  'theme-light': Sun,
  'theme-dark': Moon,
  'theme-system': Monitor,
}

const groups = [
  'Recent',
  'Go to',
  'Create',
  'Apps',
  'Licenses',
  'End users',
  'Customers',
  'Orders',
  'Resellers',
  'Activity',
  'Actions',
  'Console',
]

/** A reference that the server knows comes first, but after a license whose key has the typed text. */
const eventsFirst = ['Activity', ...groups.filter((group) => group !== 'Activity')]
/** Whether a label of the group starts with the text: an address finds a person, and a verb the deed. */
const startsIn = (all: readonly Command[], group: string, text: string) => {
  const typed = text.trim().toLowerCase()
  return all
    .filter((command) => command.group === group)
    .some(({ label, detail }) =>
      [label, group === 'Customers' ? detail : undefined].some((name) =>
        name?.toLowerCase().startsWith(typed),
      ),
    )
}

/** What names a customer, a license or a refusal opens all that helps with it in one place. */
function toActions(text: string): Command[] {
  const isTicket = Object.values(readTicket(text)).some(({ length }) => length > 0)
  if (!isTicket) return []
  const label = 'Extend, ban, free a device, mail the key or answer…'
  return [{ id: 'ticket', group: 'Actions', label, icon: 'user', act: () => setOpened('ticket', text) }]
}

const toPlain = (text: string) => text.replaceAll(/[\s-]/g, '').toUpperCase()

/** Finds pages, actions, apps, licenses, end users, customers, orders, resellers and events, below the field of the search. */
export function Palette({ facts, list }: { facts: CommandFacts; list: HTMLElement }) {
  const navigate = useNavigate()
  const { text } = useCommand()
  const known = useMemo(
    () => [
      ...recentCommands(facts.place).filter(({ to = '' }) => mayVisit(facts.may, to)),
      ...commandsFor(facts),
    ],
    [facts],
  )
  const results = useSearchResults(text, facts.apps.length > 0)
  const options = useMemo(() => {
    const listed = matching(known, text)
    const present = new Set(listed.map(({ id }) => id))
    const all = [
      ...listed,
      ...results.commands.filter(({ id }) => !present.has(id)),
      ...(results.commands.length > 0 ? toActions(text) : []),
    ]
    const typed = toPlain(text)
    const isKey = all.some(({ group, label }) => group === 'Licenses' && toPlain(label).includes(typed))
    const isFirst = (group: string) => (group === 'Activity' ? !isKey : startsIn(all, group, text))
    return [...(isKey ? groups : eventsFirst)]
      .sort((one, other) => Number(isFirst(other)) - Number(isFirst(one)))
      .flatMap((group) => all.filter((command) => command.group === group))
  }, [known, text, results.commands])
  const shownGroups = [...new Set(options.map(({ group }) => group))]

  function run(command: Command) {
    const { to, act } = command
    rememberCommand(facts.place, command)
    setOpened(undefined)
    act?.()
    if (to === paths.docs) window.location.assign(to)
    else if (to) {
      void navigate(to)
      // On another page the previously focused element no longer exists.
      setTimeout(() => document.getElementById('main')?.focus())
    }
  }
  const { active, choose, onKeyDown } = useOptions(options, text, run)
  const activeId = active && optionId(active)
  const keys = useRef(onKeyDown)
  keys.current = onKeyDown
  useLayoutEffect(() => {
    setCommand({ onKeyDown: (event) => keys.current(event) })
    return () => setCommand({ onKeyDown: undefined })
  }, [])
  useLayoutEffect(
    () => setCommand({ active: activeId, searching: results.searching }),
    [activeId, results.searching],
  )

  return createPortal(
    <>
      <div
        id={resultsId}
        role="listbox"
        aria-label="Commands and results"
        className="min-h-0 overflow-y-auto p-2"
      >
        {shownGroups.map((group) => {
          const rows = options.filter((command) => command.group === group)
          const headingId = `${resultsId}-${group.replace(' ', '-')}`
          return (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
            <div key={group} role="group" aria-labelledby={headingId}>
              <p
                id={headingId}
                role="presentation"
                className="px-2.5 pt-2.5 pb-1 font-medium text-fg-muted text-xs"
              >
                {group}
              </p>
              {rows.map((command) => (
                <Option
                  key={command.id}
                  command={command}
                  active={command === active}
                  onChoose={() => choose(command)}
                  onRun={() => run(command)}
                />
              ))}
            </div>
          )
        })}
      </div>
      {options.length === 0 && !results.searching && !results.failed && (
        <p className="px-4 pt-2 pb-8 text-center text-fg-muted">Nothing matches “{text}”.</p>
      )}
      {results.failed && <p className="border-t px-4 py-3 text-danger-text">Failed to search your lists.</p>}
      <p role="status" className="sr-only">
        {results.searching ? 'Searching' : `${options.length} ${options.length === 1 ? 'result' : 'results'}`}
      </p>
    </>,
    list,
  )
}

interface OptionProps {
  command: Command
  active: boolean
  onChoose: () => void
  onRun: () => void
}

function Option({ command, active, onChoose, onRun }: OptionProps) {
  const { label, detail, icon, keys } = command
  const Icon = iconsById[command.id] ?? icons[icon]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
    <div
      id={optionId(command)}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      onPointerMove={active ? undefined : onChoose}
      onClick={onRun}
      className={cx(
        'flex min-h-11 cursor-pointer scroll-my-2 items-center gap-3 rounded-lg px-2.5 py-1.5 md:min-h-9',
        active && 'bg-accent-soft text-accent-text',
      )}
    >
      <Icon aria-hidden className={cx('size-4 shrink-0', !active && 'text-fg-muted')} />
      <span className="min-w-0 truncate" title={label}>
        {icon === 'license' ? <KeyText>{label}</KeyText> : label}
      </span>
      {detail && (
        <span
          className={cx('min-w-0 flex-1 truncate text-[0.8125rem]', !active && 'text-fg-muted')}
          title={detail}
        >
          {detail}
        </span>
      )}
      {keys && <Keys keys={keys} className="ml-auto max-md:hidden" />}
    </div>
  )
}
