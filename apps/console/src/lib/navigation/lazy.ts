import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode } from 'react'

type LazyOf<Export> = Export extends (props: infer Props) => ReactNode
  ? LazyExoticComponent<ComponentType<Props>>
  : never

/**
 * Loads a component by the name of its export when it is first shown. Dialogs with forms load this way, because forms
 * and schemas would be a quarter of the first view. Wrap it in its own Suspense, or the whole page waits.
 */
export function lazyNamed<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyOf<Module[Name]> {
  return lazy(async () => ({ default: (await load())[name] as ComponentType })) as LazyOf<Module[Name]>
}
