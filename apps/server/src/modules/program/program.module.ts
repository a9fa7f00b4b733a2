import type { Module } from '../module.ts'
import { startProgram } from './program.start.ts'

export const program: Module = {
  tables: {
    seats: { key: ['session_id'], expires: 'until' },
    trial_marks: { key: ['app_id', 'mark'], isOfApp: true },
  },
  parts: ({ ctx, activity, blocks, attempts, moves, onError, options }) => {
    const { checkAnswers = false, sessionCap } = options
    const shared = { ctx, activity, blocks, attempts, moves }
    const program = startProgram({ ...shared, checkAnswers, sessionCap, onError })
    const { reads, signer, leaked } = program
    return { program, reads, signer, leaked }
  },
  install: async (server, { program, floods }) => {
    await server.register(async (scope) => program.mount(scope, floods.refuseFlood))
  },
  consumeOfPrograms: ({ program }) => program.consume,
  flush: ({ program }) => program.close(),
}
