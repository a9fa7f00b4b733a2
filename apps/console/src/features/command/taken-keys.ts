const field =
  'input:not([type="checkbox"]), textarea, select, [contenteditable]:not([contenteditable="false"]), [role="combobox"]'
const layer = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'

/** Whether a key is typed into a field, or belongs to a dialog, a menu or a list that is open. */
export const isTaken = ({ target }: KeyboardEvent) =>
  (target instanceof Element && target.closest(field) !== null) || document.querySelector(layer) !== null
