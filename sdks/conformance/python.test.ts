import { conformance } from './conformance.ts'

conformance('python')
