import { useEffect } from 'react'
import { Link } from 'react-router'
import { discard, type UnsavedForm } from '../../lib/form/unsaved.ts'
import { amountOf } from '../../lib/format/words.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoButton } from '../../ui/undo.ts'

/** Stays at the bottom of the window, on every page, while something typed is not saved. */
export function UnsavedBar({ forms }: { forms: UnsavedForm[] }) {
  // What else stays at the bottom stays above it.
  useEffect(() => {
    const { style } = document.documentElement
    style.setProperty('--tab-bar', `${forms.length * 3}rem`)
    return () => void style.removeProperty('--tab-bar')
  }, [forms.length])
  const drop = (form: UnsavedForm) => {
    const restore = discard(form)
    if (form.changes > 0) toast.success('Discarded', undoButton(restore))
  }
  return (
    <section aria-label="Unsaved changes" className="sticky bottom-0 z-20 border-t bg-raised shadow-pop">
      {forms.map((form) => (
        <div key={form.key} className="flex h-12 items-center gap-3 px-4 md:px-8">
          <Link
            to={form.to}
            className="line-clamp-2 min-w-0 rounded-sm font-medium text-[0.8125rem] text-accent-text leading-tight hover:underline"
          >
            {form.changes === 0
              ? `Someone else changed ${form.title} in the meantime. What you typed over it was not kept.`
              : `${amountOf(form.changes, 'unsaved change')} in ${form.title}`}
          </Link>
          <Button size="sm" className="ml-auto" onClick={() => drop(form)}>
            {form.changes === 0 ? 'Close' : 'Discard'}
          </Button>
        </div>
      ))}
    </section>
  )
}
