// In the full run, like C++ and C#: the one in TypeScript passes the same cases in every run.
import { conformance } from './conformance.ts'

conformance('python')
