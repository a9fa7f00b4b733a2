import { build, type InlineConfig, type Rolldown } from 'vite'

type Chunk = Rolldown.OutputChunk

const isPublic = (part: string) => /\/pages\/public\/(public-frame|landing)\.tsx$/.test(part)
const isStart = (part: string) => /\/sign-in-root\.tsx$/.test(part)
const isFrame = (part: string) => /\/src\/app\.tsx$|\/pages\/console-root\.tsx$/.test(part)
const isSignIn = (part: string) => /\/auth\.tsx$/.test(part)
const isPortal = (part: string) => /\/pages\/reseller\/|\/overlay-panels\.tsx$/.test(part)
const isShell = (part: string) => /\/owner\/shell\.tsx$/.test(part)
const isDashboard = (part: string) => /\/owner\/dashboard\.tsx$/.test(part)
const isView = (part: string) =>
  /\/owner\/(shell|dashboard|licenses|end-users|resellers|list-filters)\.tsx$/.test(part)
const isEntry = (part: string) => /\/owner\/(license|end-user|reseller)\.tsx$/.test(part)
const isOrders = (part: string) => /\/owner\/orders\.tsx$/.test(part)
const isCustomer = (part: string) => /\/owner\/customer\.tsx$/.test(part)
const isExtras = (part: string) => /\/owner\/console-extras\.tsx$/.test(part)
const isTab = (part: string) =>
  /\/(license-types|shops|customers|settings)-tab\.tsx$|\/(buyer-mail|error-messages)\.tsx$/.test(part)
const isProfile = (part: string) => /\/profile-card\.tsx$/.test(part)
/** In bytes; a request for less costs more than the bytes. */
const little = 1000
const isTimeline = (part: string) => /\/owner\/item-timeline\.tsx$/.test(part)
const isGrants = (part: string) => /\/features\/grants\//.test(part)
const isLog = (part: string) => /\/owner\/activity\.tsx$|\/features\/audit\/record-dialog\.tsx$/.test(part)
const isIntegrations = (part: string) => /\/pages\/owner\/integrations\.tsx$/.test(part)
const isApp = (part: string) => /\/pages\/owner\/app(-overview)?\.tsx$/.test(part)
const isItemOrFrame = (part: string) => /\/owner\/(license|end-user|customer|shell)\.tsx$/.test(part)
// The page of a list, and that of one item of it.
const itemPage = /\/owner\/(license|end-user|reseller|customer)s?\.tsx$/

/**
 * Left alone, the bundler writes a file for each set of parts that share a module: the dashboard would request fifty. These
 * few files hold what several parts share. A part is a module that is loaded on its own: a page or a dialog. A module is
 * needed by every part that needs its importers, so that no two of these files import each other.
 */
export async function sharedChunks(config: InlineConfig) {
  const names = new Map<string, string>()
  for (const [chunk, parts] of await partsByChunk(config)) {
    const name = nameOf([...parts], chunk.code.length)
    if (name) for (const id of chunk.moduleIds) names.set(id, name)
  }
  return {
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'shared', name: (id: string) => names.get(id) ?? null }],
  }
}

function nameOf(parts: string[], bytes: number) {
  if (parts.some(isPublic)) return 'base'
  const view = parts.some(isView)
  if (parts.some(isStart) && parts.every(isPortal)) return 'reseller-sign-in'
  if (parts.some(isStart)) return view || parts.some(isFrame) || parts.some(isApp) ? 'controls' : 'sign-in'
  if (parts.some(isFrame)) return 'console'
  const signIn = parts.some(isSignIn)
  if (signIn && (view || parts.some(isIntegrations))) return 'frame'
  if (view && parts.some(isPortal)) return parts.some(isItemOrFrame) ? 'lists' : 'resource-list'
  if (parts.some(isExtras)) return 'owner'
  // What tabs and the page of webhooks share with lists is little, and the rest of the lists is not for them.
  if (view && parts.some((part) => isShell(part) || isTab(part) || isIntegrations(part))) return 'owner'
  // The table of apps and the figures are for few pages.
  if (parts.some(isDashboard)) return parts.some((part) => itemPage.test(part)) ? 'owner' : 'apps'
  if (parts.some(isApp)) return signIn ? 'tabs' : 'items'
  if (view && parts.some(isEntry)) return entriesNameOf(parts)
  if (view) return parts.some(isCustomer) ? 'columns' : 'tables'
  if (parts.every((part) => itemPage.exec(part)?.[1] === 'customer')) return 'columns'
  if (parts.some(isOrders) && parts.some(isEntry)) return 'orders'
  if (parts.filter(isEntry).length > 1) return 'entry-cards'
  if (parts.some(isTab) && parts.every((part) => isTab(part) || isProfile(part))) return 'app-tabs'
  if (parts.some(isTab) && bytes < little && !parts.some(isPortal)) return 'owner'
  if (parts.some(isTimeline) && parts.some(isGrants)) return 'history'
  // The page of webhooks shows actions without the rest of their history.
  if (parts.some(isTimeline) && parts.some(isLog) && !parts.some(isIntegrations)) return 'history'
}

/** What only the pages of one kind of item share is apart from what several kinds share. */
function entriesNameOf(parts: string[]) {
  const [kind, ...others] = new Set(parts.flatMap((part) => itemPage.exec(part)?.[1] ?? []))
  return others.length > 0 ? 'entries' : `${kind}-entries`
}

/** The shared chunks that the bundler makes by default, each with the parts that load it. */
async function partsByChunk(config: InlineConfig) {
  const output = (await build({
    ...config,
    configFile: false,
    logLevel: 'silent',
    build: { ...config.build, write: false },
  })) as Rolldown.RolldownOutput
  const chunks = new Map(
    output.output.filter((file): file is Chunk => file.type === 'chunk').map((file) => [file.fileName, file]),
  )
  const parts = new Map<Chunk, Set<string>>()
  for (const part of chunks.values()) {
    if (part.isDynamicEntry) reach(part, part.facadeModuleId ?? '')
  }
  return [...parts].filter(([chunk]) => !chunk.isEntry && !chunk.isDynamicEntry)

  function reach(chunk: Chunk, part: string) {
    const known = parts.get(chunk) ?? new Set()
    if (known.has(part)) return
    parts.set(chunk, known.add(part))
    for (const file of chunk.imports) {
      const next = chunks.get(file)
      if (next) reach(next, part)
    }
  }
}
