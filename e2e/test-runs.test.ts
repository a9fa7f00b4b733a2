import { describe, expect, test } from 'vitest'
// @ts-expect-error It runs on any Node, so it has no types.
import { runTests } from '../scripts/test-runs.mjs'

type Failure = { id: string; text: string; file?: string; project?: string }

const failure = (id: string, file = `${id}.ts`): Failure => ({
  id,
  text: `${id}: why`,
  file,
  project: 'code',
})

/** Each run takes the next of `results`: first all tests, then the files that run again. */
function kind(...results: { passed: number; failed: Failure[] }[]) {
  const runs: unknown[] = []
  const start = async (_report: string, only?: unknown) => {
    runs.push(only)
    const { passed, failed } = results[runs.length - 1]!
    return { exit: failed.length, passed, failed, skipped: [], files: [] }
  }
  return { name: 'code', start, runs }
}

describe('failures of a run', () => {
  test('are flaky, with their error, if their file passes when it runs again alone', async () => {
    const tests = kind({ passed: 9, failed: [failure('a')] }, { passed: 3, failed: [] })
    const [outcome] = await runTests([tests], '/tmp', true)
    expect(outcome).toMatchObject({ exit: 0, passed: 10, failed: [], flaky: [failure('a')] })
    expect(tests.runs).toEqual([undefined, { file: 'a.ts', project: 'code' }])
  })

  test('stay failures if they fail again, or if another test of the file does', async () => {
    const tests = kind(
      { passed: 9, failed: [failure('a'), failure('b'), failure('c', 'b.ts')] },
      { passed: 0, failed: [failure('a')] },
      { passed: 2, failed: [failure('d', 'b.ts')] },
    )
    const [outcome] = await runTests([tests], '/tmp', true)
    expect(outcome).toMatchObject({ exit: 2, failed: [failure('a'), failure('d', 'b.ts')] })
    expect(outcome.flaky).toEqual([failure('b'), failure('c', 'b.ts')])
  })

  test.each([
    ['outside of CI', false, [failure('a')]],
    ['in many files', true, ['a', 'b', 'c', 'd', 'e'].map((id) => failure(id))],
    ['outside of the tests', true, [failure('a'), { id: 'b', text: 'b' }]],
  ])('%s do not run again', async (_where, repeats, failed) => {
    const tests = kind({ passed: 9, failed })
    expect(await runTests([tests], '/tmp', repeats)).toMatchObject([{ passed: 9, failed, flaky: [] }])
    expect(tests.runs).toHaveLength(1)
  })

  test('stay failures if their file runs no test again', async () => {
    const tests = kind({ passed: 9, failed: [failure('a')] }, { passed: 0, failed: [] })
    expect(await runTests([tests], '/tmp', true)).toMatchObject([
      { passed: 9, failed: [failure('a')], flaky: [] },
    ])
  })

  test('run again once the runs of all kinds have ended', async () => {
    const first = kind({ passed: 9, failed: [failure('a')] }, { passed: 3, failed: [] })
    const gate = Promise.withResolvers<void>()
    const slow = { ...kind({ passed: 5, failed: [] }), name: 'browser' }
    const start = async (report: string) => gate.promise.then(() => slow.start(report))
    const outcomes = runTests([first, { ...slow, start }], '/tmp', true)
    await Promise.resolve()
    expect(first.runs).toEqual([undefined])
    gate.resolve()
    expect(await outcomes).toMatchObject([{ passed: 10, flaky: [failure('a')] }, { passed: 5 }])
  })
})
