/** @jsxImportSource preact */
import './customer.css'
import type { BodyInputOf, CustomerPage, DataOf } from '@keyward/contract'
import { render, type VNode } from 'preact'
import { readOfTab, writeOfTab } from '../lib/browser/stored.ts'
import { base, enterBase } from '../lib/navigation/base.ts'
import { Account } from './account.tsx'
import { brandColors } from './brand.ts'
import { CallError, type CallInput, type Calls, call } from './calls.ts'
import { CustomerContext, explain } from './context.tsx'
import { Brand, Maker } from './face.tsx'
import { fill } from './format.ts'
import { firstLanguage, type Language, languages, loadWords, rememberLanguage } from './languages.ts'
import { RefusalHelp } from './refusal.tsx'
import { SignIn, type SignInMethod } from './sign-in.tsx'

/** What is known before the server has answered, and where it has no page. */
const unknown: CustomerPage = {
  app: { appId: '', name: '', brandColor: null },
  ...{ vendor: '', support: null, shop: null, logo: null, mail: false },
}
const root = document.getElementById('root')!

if (enterBase()) void start()

async function start() {
  const mailed = takeMailToken()
  const appId = decodeURIComponent(window.location.pathname.slice(base.length).split('/')[2] ?? '')
  const params = { appId }
  // The token is of this tab alone: never where the console keeps its own.
  const tokenKey = `keyward-customer-token${base}/${appId}`
  let chosen = firstLanguage()
  let words = await loadWords(chosen)
  let page = unknown
  let preview: Partial<CustomerPage> = {}
  let notice = { text: '', tone: 'good' }
  let screen = { title: '', content: <></> }
  let latest = 0
  followTheme()
  followConsole((face) => {
    preview = face
    draw()
  })
  window.addEventListener('hashchange', () => {
    const mailToken = takeMailToken()
    if (mailToken !== undefined) void load(mailToken)
  })
  show(words.texts.page.loading, <p class="muted">{words.texts.page.loading}</p>)
  await load(mailed)

  /** Loads what the page shows, and shows it. */
  async function load(mailToken?: string): Promise<void> {
    const run = ++latest
    try {
      page = await call('get', { params })
    } catch (error) {
      if ((error as CallError).status !== 404) return fail(error, mailToken)
      page = unknown
      return show(words.texts.page.missing, <p class="muted">{words.texts.page.missingHelp}</p>)
    }
    if (run !== latest) return
    paint(page.app.brandColor)
    if (mailToken !== undefined) {
      writeOfTab(tokenKey, null)
      try {
        await login({ mailToken })
      } catch (error) {
        const { code, status } = error as CallError
        if (status === 0 || status >= 429) return fail(error, mailToken)
        const isEnded = code === 'customer_link_invalid' || code === 'invalid_input'
        say(isEnded ? words.texts.signIn.linkEnded : explain(words, error), 'bad')
        return askWho('mail')
      }
    }
    const token = readOfTab(tokenKey)
    if (token === null) return askWho()
    try {
      const query = { locale: words.tag }
      const [me, { devices }] = await Promise.all([ask('me', { query }), ask('devices')])
      if (run !== latest) return
      const title = fill(words.texts.page.title, { app: page.app.name })
      show(title, <Account key={token} me={me} devices={devices} />)
    } catch (error) {
      fail(error)
    }
  }

  async function ask<N extends keyof Calls>(name: N, input?: CallInput<N>): Promise<DataOf<Calls[N]>> {
    const token = readOfTab(tokenKey)
    try {
      return await call(name, { ...input, token })
    } catch (error) {
      if (!(error instanceof CallError && error.status === 401)) throw error
      if (readOfTab(tokenKey) === token) {
        writeOfTab(tokenKey, null)
        say(words.texts.session.ended, 'bad')
        askWho()
      }
      return new Promise(() => {})
    }
  }

  async function login(body: BodyInputOf<Calls['login']>) {
    writeOfTab(tokenKey, (await call('login', { params, body })).token)
  }

  async function signIn(proof: BodyInputOf<Calls['login']>) {
    await login({ ...proof, locale: words.tag })
    await enter()
  }

  async function signOut() {
    // This page signs out in any case. If the server does not hear of it, the token expires within a day.
    await call('logout', { token: readOfTab(tokenKey), body: {} }).catch(() => undefined)
    writeOfTab(tokenKey, null)
    await enter()
    say(words.texts.page.signedOut)
  }

  async function enter() {
    say('')
    await load()
    root.querySelector('h1')?.focus()
  }

  async function change(language: Language) {
    chosen = language
    rememberLanguage(language)
    const loaded = await loadWords(language)
    if (chosen !== language) return
    words = loaded
    say('')
    await load()
    root.querySelector<HTMLElement>('header select')?.focus()
  }

  function askWho(first?: SignInMethod) {
    show(
      words.texts.signIn.title,
      <>
        <p class="muted">{words.texts.signIn.help}</p>
        <SignIn key={first} first={first} />
        <RefusalHelp />
      </>,
    )
  }

  function fail(error: unknown, mailToken?: string) {
    show(
      words.texts.problems.unknown,
      <>
        <p>{explain(words, error)}</p>
        <div>
          <button type="button" class="primary" onClick={() => load(mailToken)}>
            {words.texts.page.retry}
          </button>
        </div>
      </>,
    )
  }

  function say(text: string, tone = 'good') {
    notice = { text, tone }
    draw()
    if (text !== '') root.querySelector('[role="status"]')?.scrollIntoView({ block: 'nearest' })
  }

  function show(title: string, content: VNode) {
    screen = { title, content }
    draw()
  }

  function draw() {
    const { title, content } = screen
    const { name } = page.app
    const shown = { ...page, ...preview }
    document.title = title.includes(name) ? title : `${title} · ${name}`
    document.documentElement.lang = words.tag
    render(
      <CustomerContext.Provider value={{ ...words, page, ask, say, signIn, signOut, reload: () => load() }}>
        <div class="column">
          <header class="top">
            <Brand page={shown} />
            <select
              aria-label={words.texts.page.language}
              value={words.language}
              onChange={({ currentTarget }) => change(currentTarget.value as Language)}
            >
              {Object.entries(languages).map(([code, language]) => (
                <option key={code} value={code} lang={language.tag}>
                  {language.name}
                </option>
              ))}
            </select>
          </header>
          <main class="stack">
            <h1 tabIndex={-1}>{title}</h1>
            <p class={`notice ${notice.tone}`} role="status">
              {notice.text}
            </p>
            {content}
          </main>
          <Maker page={shown} />
        </div>
      </CustomerContext.Provider>,
      root,
    )
  }
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

/** The console, which shows this page in a frame, says what is written there and not saved yet. */
function followConsole(show: (face: Partial<CustomerPage>) => void) {
  if (window.parent === window) return
  window.addEventListener('message', ({ source, origin, data }) => {
    if (source === window.parent && origin === window.location.origin) show(data)
  })
}

/** public/theme.js has set the theme before the first paint. */
function followTheme() {
  window
    .matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', ({ matches }) => document.documentElement.classList.toggle('dark', matches))
}
