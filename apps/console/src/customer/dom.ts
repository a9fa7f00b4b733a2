export type Child = Node | string | false | null | undefined

type Listeners = { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void }

export interface Attributes {
  on?: Listeners
  [name: string]: string | number | boolean | null | undefined | Listeners
}

/** Makes an element. Texts become text nodes, never HTML; attributes that are false, null or undefined are left out. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { on = {}, ...attributes }: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue
    element.setAttribute(name, value === true ? '' : String(value))
  }
  for (const [name, listener] of Object.entries(on)) {
    element.addEventListener(name, listener as EventListener)
  }
  element.append(...toNodes(children))
  return element
}

export const toNodes = (children: readonly Child[]) =>
  children.filter((child): child is Node | string => child !== false && child !== null && child !== undefined)

let ids = 0
/** An id for an element that a label or a description names. */
export const newId = (word: string) => `${word}-${++ids}`
