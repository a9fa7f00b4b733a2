import { conformance } from './conformance.ts'

conformance('typescript')
