import { conformance } from './conformance.ts'

conformance('csharp')
