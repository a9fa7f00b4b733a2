import { build, type InlineConfig, type Rolldown } from 'vite'

type Chunk = Rolldown.OutputChunk

const isPublic = (part: string) => /\/pages\/public\/(public-frame|landing)\.tsx$/.test(part)
const isFrame = (part: string) => /\/src\/app\.tsx$|\/pages\/console-root\.tsx$/.test(part)
const isSignIn = (part: string) => /\/auth\.tsx$/.test(part)
const isPortal = (part: string) => /\/pages\/reseller\/|\/overlay-panels\.tsx$/.test(part)
const isView = (part: string) =>
  /\/owner\/(shell|dashboard|licenses|end-users|resellers|list-filters)\.tsx$/.test(part)
const isApp = (part: string) =>
  /\/pages\/owner\/app\.tsx$|\/apps\/(integration|app-sections|license-types-section)\.tsx$/.test(part)

/**
 * Left alone, the bundler writes a file for each set of parts that share a module: the dashboard would request fifty. These
 * few files hold what several parts share. A part is a module that is loaded on its own: a page or a dialog. A module is
 * needed by every part that needs its importers, so that no two of these files import each other.
 */
export async function sharedChunks(config: InlineConfig) {
  const names = new Map<string, string>()
  for (const [chunk, parts] of await partsByChunk(config)) {
    const name = nameOf([...parts])
    if (name) for (const id of chunk.moduleIds) names.set(id, name)
  }
  return {
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'shared', name: (id: string) => names.get(id) ?? null }],
  }
}

function nameOf(parts: string[]) {
  if (parts.some(isPublic)) return 'base'
  if (parts.some(isFrame)) return 'console'
  if (!parts.some(isView)) return parts.some(isApp) ? 'items' : undefined
  if (parts.some(isSignIn)) return 'controls'
  return parts.some(isPortal) ? 'lists' : 'owner'
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
