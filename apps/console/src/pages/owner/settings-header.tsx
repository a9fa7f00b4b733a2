import { ArrowLeft } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Link } from 'react-router'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

/** The head of a page that the settings link to. */
export function SettingsHeader(props: Omit<ComponentProps<typeof PageHeader>, 'actions'>) {
  return (
    <PageHeader
      {...props}
      actions={
        <Button asChild>
          <Link to={paths.settings}>
            <ArrowLeft aria-hidden />
            Settings
          </Link>
        </Button>
      }
    />
  )
}
