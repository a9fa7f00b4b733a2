/// <reference types="vite/client" />

/** Version of the root package, set by vite.config.ts. */
declare const __KEYWARD_VERSION__: string

declare module 'virtual:wire' {
  const table: unknown
  export default table
}

declare module 'virtual:receivers' {
  const files: Readonly<Record<string, string>>
  export default files
}
