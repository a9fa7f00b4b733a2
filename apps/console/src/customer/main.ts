import './customer.css'
import type { CustomerPage } from '@keyward/contract'
import { readStored, writeStored } from '../lib/browser/stored.ts'
import { base, enterBase } from '../lib/navigation/base.ts'
import { account } from './account.ts'
import { brandColors } from './brand.ts'
import { CallError, call } from './calls.ts'
import { type Context, explain, paragraph } from './context.ts'
import { type Child, h, toNodes } from './dom.ts'
import { fill, formats } from './format.ts'
import {
  chooseLanguage,
  chooseLocale,
  isLanguage,
  type Language,
  languageCodes,
  languages,
} from './languages.ts'
import { refusalHelp } from './refusal.ts'
import { customerSession } from './session.ts'
import { type SignInMethod, signIn } from './sign-in.ts'
import type { Texts } from './texts/en.ts'

const languageKey = 'keyward-customer-language'
const root = document.getElementById('root')!
const status = h('p', { class: 'notice', role: 'status' })

if (enterBase()) void start()

async function start() {
  const mailed = takeMailToken()
  const appId = decodeURIComponent(window.location.pathname.slice(base.length).split('/')[2] ?? '')
  const session = customerSession(appId)
  const stored = readStored(languageKey)
  let language = isLanguage(stored) ? stored : chooseLanguage(navigator.languages)
  let texts: Texts = await languages[language].load()
  let page: CustomerPage | undefined
  let latest = 0
  followTheme()
  window.addEventListener('hashchange', () => {
    const mailToken = takeMailToken()
    if (mailToken !== undefined) void show(mailToken)
  })
  await show(mailed)

  /** Loads what the page shows, and shows it. */
  async function show(mailToken?: string): Promise<void> {
    const run = ++latest
    const { tag } = languages[language]
    document.documentElement.lang = tag
    const words = formats(chooseLocale(language, navigator.languages))
    if (!root.hasChildNodes()) frame(texts.page.loading, paragraph(texts.page.loading, 'muted'))
    try {
      page = await call('get', { params: { appId } })
    } catch (error) {
      return (error as CallError).status === 404 ? missing() : failed(error, mailToken)
    }
    if (run !== latest) return
    paint(page.app.brandColor)
    const context: Context = {
      page,
      texts,
      tag,
      formats: words,
      token: session.get,
      say,
      reload: () => show(),
      enter: async (token) => {
        session.set(token)
        say('')
        await show()
        root.querySelector('h1')?.focus()
      },
      hasEnded: (error) => {
        if (!(error instanceof CallError && error.status === 401)) return false
        session.set(null)
        say(texts.session.ended, 'bad')
        showSignIn(context)
        return true
      },
    }
    if (mailToken !== undefined) {
      session.set(null)
      try {
        session.set((await call('login', { params: { appId }, body: { mailToken } })).token)
      } catch (error) {
        const { code, status } = error as CallError
        if (status === 0 || status >= 429) return failed(error, mailToken)
        const isEnded = code === 'customer_link_invalid' || code === 'invalid_input'
        say(isEnded ? texts.signIn.linkEnded : explain(context, error), 'bad')
        return showSignIn(context, 'mail')
      }
    }
    const token = session.get()
    if (token === null) return showSignIn(context)
    try {
      const [me, { devices }] = await Promise.all([
        call('me', { token, query: { locale: tag } }),
        call('devices', { token }),
      ])
      if (run === latest)
        frame(fill(texts.page.title, { app: page.app.name }), ...account(context, me, devices))
    } catch (error) {
      if (!context.hasEnded(error)) failed(error)
    }
  }

  function showSignIn(context: Context, method?: SignInMethod) {
    frame(
      texts.signIn.title,
      paragraph(texts.signIn.help, 'muted'),
      signIn(context, method),
      refusalHelp(context),
    )
  }

  function missing() {
    page = undefined
    frame(texts.page.missing, paragraph(texts.page.missingHelp, 'muted'))
  }

  function failed(error: unknown, mailToken?: string) {
    const words = formats(chooseLocale(language, navigator.languages))
    const retry = h(
      'button',
      { type: 'button', class: 'primary', on: { click: () => void show(mailToken) } },
      texts.page.retry,
    )
    frame(texts.problems.unknown, paragraph(explain({ texts, formats: words }, error)), h('div', {}, retry))
  }

  function frame(title: string, ...children: Child[]) {
    const name = page?.app.name
    document.title = name && !title.includes(name) ? `${title} · ${name}` : title
    root.replaceChildren(
      h(
        'div',
        { class: 'column' },
        h('header', { class: 'top' }, h('strong', {}, name ?? ''), languageSelect()),
        h('main', { class: 'stack' }, h('h1', { tabindex: -1 }, title), status, ...toNodes(children)),
      ),
    )
  }

  function languageSelect() {
    const select = h(
      'select',
      { 'aria-label': texts.page.language, on: { change: () => void change(select.value) } },
      ...languageCodes.map((code) =>
        h(
          'option',
          { value: code, lang: languages[code].tag, selected: code === language },
          languages[code].name,
        ),
      ),
    )
    return select
  }

  async function change(next: string) {
    if (!isLanguage(next)) return
    language = next satisfies Language
    writeStored(languageKey, next)
    const loaded = await languages[next].load()
    if (language !== next) return
    texts = loaded
    say('')
    await show()
    root.querySelector<HTMLElement>('header select')?.focus()
  }
}

function say(text: string, tone: 'good' | 'bad' = 'good') {
  status.className = `notice ${tone}`
  status.textContent = text
  if (text !== '') status.scrollIntoView({ block: 'nearest' })
}

/** The token of a mailed link, which is removed from the address, and so from the history, at once. */
function takeMailToken(): string | undefined {
  const token = window.location.hash.slice(1)
  if (token === '') return undefined
  window.history.replaceState(null, '', window.location.pathname + window.location.search)
  return token
}

function paint(color: string | null) {
  const { fill: background, onFill, text } = brandColors(color)
  const { style } = document.documentElement
  style.setProperty('--brand', background)
  style.setProperty('--on-brand', onFill)
  style.setProperty('--brand-text-light', text.light)
  style.setProperty('--brand-text-dark', text.dark)
}

/** public/theme.js has set the theme before the first paint. */
function followTheme() {
  window
    .matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', ({ matches }) => document.documentElement.classList.toggle('dark', matches))
}
