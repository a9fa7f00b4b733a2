import type { ComponentProps } from 'react'
import { paths } from '../../lib/navigation/paths.ts'
import { Breadcrumb } from '../../ui/breadcrumb.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

/** The head of a page that the settings link to. */
export function SettingsHeader(props: Omit<ComponentProps<typeof PageHeader>, 'actions'>) {
  return (
    <>
      <Breadcrumb label="Settings" to={paths.settings} />
      <PageHeader {...props} />
    </>
  )
}
