import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { notices } from './notices.ts'

/**
 * The customer's page: a build of its own, so that it shares no file with the console and stays small. It runs after the
 * console's build and adds to its folder.
 */
export default defineConfig({
  base: './',
  plugins: [notices(fileURLToPath(new URL('../../node_modules', import.meta.url)))],
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: false,
    copyPublicDir: false,
    assetsDir: 'assets/customer',
    assetsInlineLimit: 0,
    manifest: '.vite/customer.json',
    rolldownOptions: { input: 'customer.html' },
  },
})
