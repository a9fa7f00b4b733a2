#!/usr/bin/env node
import './require-node.mjs'
import './keep-compiled.mjs'

await import('./cli.ts')
