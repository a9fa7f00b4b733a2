import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode } from 'react'

type LazyOf<Export> = Export extends (props: infer Props) => ReactNode
  ? LazyExoticComponent<ComponentType<Props>>
  : never

/**
 * A component by the name of its export, loaded when it is first shown. Dialogs with forms are loaded so: forms and
 * schemas would else be a quarter of the first view. Give it a Suspense of its own, or the whole page waits.
 */
export function lazyNamed<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyOf<Module[Name]> {
  return lazy(async () => ({ default: (await load())[name] as ComponentType })) as LazyOf<Module[Name]>
}
