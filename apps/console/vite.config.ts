import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Endpoint, endpoints } from '@keyward/contract'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, mergeConfig, type Plugin, type UserConfig } from 'vite'
import { sharedChunks } from './chunks.ts'
import { notices } from './notices.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const api = process.env.KEYWARD_API ?? 'http://127.0.0.1:3000'

/**
 * `virtual:wire` is the contract's endpoint table without its schemas: all that a call needs at run time. The schemas
 * weigh 30 kB and are wanted only where a form is filled in.
 */
function wire(): Plugin {
  const id = '\0virtual:wire'
  return {
    name: 'keyward-wire',
    resolveId: (source) => (source === 'virtual:wire' ? id : undefined),
    load(loaded) {
      if (loaded !== id) return
      // The rest is called by programs, by customers, by the payment provider and by those who watch the server.
      const { system: _system, customerPage: _customers, program, payments, ...others } = endpoints
      const { webhook: _webhook, ...paid } = payments
      const called = { ...others, payments: paid, program: { keys: program.keys } }
      const table = Object.entries(called).map(([noun, group]) => [
        noun,
        Object.fromEntries(
          Object.entries(group).map(
            ([name, { method, path, access, body, permission, also, allApps, deleting }]) => [
              name,
              {
                path,
                // What most calls have is left out.
                method: method === 'GET' ? undefined : method,
                access: access === 'owner' ? undefined : access,
                hasBody: body !== undefined || undefined,
                permission: permission === 'self' ? undefined : permission,
                allApps,
                also: (also as Endpoint['also'])?.map((one) => one.permission),
                deleting,
              },
            ],
          ),
        ),
      ])
      return `export default ${JSON.stringify(Object.fromEntries(table))}`
    },
  }
}

/** `virtual:receivers` are the examples that check the signatures of webhooks, whose tests run them, by their file names. */
function receivers(): Plugin {
  const id = '\0virtual:receivers'
  const folder = new URL('../../examples/automation/receivers/', import.meta.url)
  return {
    name: 'keyward-receivers',
    resolveId: (source) => (source === 'virtual:receivers' ? id : undefined),
    load(loaded) {
      if (loaded !== id) return
      const files = readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')])
      return `export default ${JSON.stringify(Object.fromEntries(files))}`
    },
  }
}

/** Shows the customer's page at its path in development; a build of its own makes the one that the server sends. */
function customerPage(): Plugin {
  return {
    name: 'keyward-customer-page',
    configureServer: (server) => {
      server.middlewares.use((request, _response, next) => {
        if (/^\/u\/[^/.]+$/.test(request.url?.split('?')[0] ?? '')) request.url = '/customer.html'
        next()
      })
    },
  }
}

/** Forms only check input: without this, each of them would load what writes JSON Schema, a quarter of zod. */
function withoutJsonSchema(): Plugin {
  const written = /\/zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/
  return {
    name: 'keyward-without-json-schema',
    apply: 'build',
    transform(code, id) {
      if (!written.test(id)) return
      const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name)
      return `const unused = () => unused\nexport { ${names.map((name) => `unused as ${name}`).join(', ')} }`
    },
  }
}

const options: UserConfig = {
  // Relative, because the base path is known only to the server that sends the pages.
  base: './',
  plugins: [
    react({ exclude: [/\/node_modules\//, /\/src\/customer\//] }),
    tailwindcss(),
    wire(),
    receivers(),
    customerPage(),
    withoutJsonSchema(),
  ],
  define: { __KEYWARD_VERSION__: JSON.stringify(version) },
  server: { proxy: { '/api': api, '/docs': api, '/sdk': api, '/third-party-notices.txt': api } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    manifest: true,
    rolldownOptions: {
      // Making a schema has no effect but itself: a page that takes only a constant from the contract leaves zod out.
      treeshake: { moduleSideEffects: (id) => !id.includes('/packages/contract/') },
    },
  },
}

export default defineConfig(async ({ command, isSsrBuild }) =>
  command === 'build' && !isSsrBuild
    ? mergeConfig(options, {
        plugins: [notices(fileURLToPath(new URL('../../node_modules', import.meta.url)))],
        build: { rolldownOptions: { output: { codeSplitting: await sharedChunks(options) } } },
      })
    : options,
)
