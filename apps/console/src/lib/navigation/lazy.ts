import { type ComponentType, createElement, lazy, type ReactNode } from 'react'

type LazyOf<Export> = Export extends (props: infer Props) => ReactNode ? ComponentType<Props> : never

const forgets = new Set<() => void>()

/** Lets parts that failed to load be loaded again. */
export function forgetFailedLoads() {
  for (const forget of forgets) forget()
  forgets.clear()
}

/**
 * Loads a component by the name of its export when it is first shown. Dialogs with forms load this way, because forms
 * and schemas would be a quarter of the first view. Wrap it in its own Suspense, or the whole page waits.
 */
export function lazyNamed<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyOf<Module[Name]> {
  const create = () =>
    lazy(async () => {
      try {
        return { default: (await load())[name] as ComponentType }
      } catch (error) {
        forgets.add(() => {
          Part = create()
        })
        throw error
      }
    })
  let Part = create()
  return ((props: object) => createElement(Part, props)) as LazyOf<Module[Name]>
}
