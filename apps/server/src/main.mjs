import { executionAsyncResource } from 'node:async_hooks'
import './keep-compiled.mjs'

// V8 drops the hidden class of ticks when it collects garbage while none is waiting, and from then on process.nextTick
// takes three times as long: a thirtieth of a check. An object of that class, held from the start, prevents it.
export let tick
process.nextTick(() => {
  tick = executionAsyncResource()
})

await import('./run.ts')
