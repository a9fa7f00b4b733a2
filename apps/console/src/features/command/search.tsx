import { limits } from '@keyward/contract'
import { Search as SearchIcon, X } from 'lucide-react'
import { type MouseEvent, useEffect, useLayoutEffect, useRef } from 'react'
import { isSearchKey, takeSearchKeys } from '../../lib/browser/search-keys.ts'
import { IconButton } from '../../ui/button.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { setCommand, setOpened, useCommand } from './opened.ts'
import { isTaken } from './taken-keys.ts'

/** The id of the list, which the palette shows below the field. */
export const resultsId = 'search-results'

const close = () => setOpened(undefined)
const setPlace = (place: HTMLElement | null) => setCommand({ place })

/** Opens at once on Ctrl K, so that the field gets the first letter; its results are loaded meanwhile. */
export function Search() {
  const { opened } = useCommand()
  useEffect(() => {
    const kept = takeSearchKeys()
    if (kept !== undefined) setOpened('palette', kept)
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || !isSearchKey(event) || isTaken(event)) return
      event.preventDefault()
      setOpened('palette')
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
  return opened === 'palette' && <SearchDialog />
}

/** At the top on phones too, where the keyboard covers the bottom. */
function SearchDialog() {
  const { text, active, searching, onKeyDown } = useCommand()
  const isLoaded = onKeyDown !== undefined
  const dialog = useRef<HTMLDialogElement>(null)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    const shown = dialog.current!
    shown.showModal()
    field.current?.focus()
    // Closing returns the focus to where it was.
    return () => shown.close()
  }, [])

  function closeOutside(event: MouseEvent) {
    if (event.target !== dialog.current) return
    event.preventDefault()
    close()
  }

  return (
    <dialog
      ref={dialog}
      // biome-ignore lint/a11y/noRedundantRoles: the keys of the page ask for the role
      role="dialog"
      aria-label="Search or go to"
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onMouseDown={closeOutside}
      className="fixed inset-x-2 top-2 bottom-auto z-50 mx-auto flex max-h-[min(28rem,calc(100dvh-1rem))] w-auto max-w-xl animate-pop flex-col overflow-hidden rounded-xl border bg-raised text-fg shadow-pop outline-none backdrop:bg-scrim md:top-[14dvh]"
    >
      <div className="flex items-center gap-2.5 border-b pr-2.5 pl-4">
        {searching || !isLoaded ? (
          <Spinner />
        ) : (
          <SearchIcon aria-hidden className="size-4 shrink-0 text-fg-faint" />
        )}
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label="Search or go to"
          aria-expanded={isLoaded}
          aria-controls={isLoaded ? resultsId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={active}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          enterKeyHint="go"
          placeholder="A page, a key, a user, or a customer’s whole mail…"
          maxLength={limits.searchMax}
          value={text}
          onChange={(event) => setCommand({ text: event.target.value })}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text').trim()
            if (pasted.length <= limits.searchMax && !pasted.includes('\n')) return
            event.preventDefault()
            setOpened('ticket', pasted)
          }}
          onKeyDown={onKeyDown}
          className="h-13 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-fg-faint md:text-[0.9375rem]"
        />
        <IconButton label="Close" onClick={close}>
          <X />
        </IconButton>
      </div>
      <div ref={setPlace} className="flex min-h-0 flex-col" />
    </dialog>
  )
}
