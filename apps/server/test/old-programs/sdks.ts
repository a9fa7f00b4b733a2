import { encrypted } from './encrypted.ts'
import { keyedSdks } from './keyed.ts'
import type { Sdk } from './program.ts'
import { timedSdks } from './timed.ts'
import { bareGet, javaScript11 } from './unsigned.ts'

/** Every kind of shipped program. */
export const oldSdks: Sdk[] = [encrypted, bareGet, javaScript11, ...keyedSdks, ...timedSdks]
