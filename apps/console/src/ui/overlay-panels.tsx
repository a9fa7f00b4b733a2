export { MenuPanel } from './menu-panel.tsx'
export { SearchPanel } from './search-panel.tsx'
export { SelectPanel } from './select-panel.tsx'
export { TooltipPanel } from './tooltip-panel.tsx'
