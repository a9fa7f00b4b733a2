import { conformance } from './conformance.ts'

conformance('cpp')
