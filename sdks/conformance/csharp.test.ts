// In the full run: it compiles the SDK, whose cases the one in TypeScript passes in every run.
import { conformance } from './conformance.ts'

conformance('csharp')
