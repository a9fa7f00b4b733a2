import type { DropdownMenu } from 'radix-ui'
import { createContext } from 'react'

/** What items of a menu are made of, given by the panel around them. */
export const MenuParts = createContext<Pick<typeof DropdownMenu, 'Item' | 'Separator'> | undefined>(undefined)
