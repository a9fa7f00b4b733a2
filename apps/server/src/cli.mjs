#!/usr/bin/env node
import './keep-compiled.mjs'

await import('./cli.ts')
