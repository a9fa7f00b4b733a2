import { Moon, Sun } from 'lucide-react'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useTheme } from '../../lib/browser/theme.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { LogoMark } from '../../ui/logo.tsx'
import { pricesId } from './anchors.ts'

export function SiteHeader() {
  const { dark, setTheme } = useTheme()
  const sells = Boolean(usePublicConfig()?.pricing)

  return (
    <header className="sticky top-0 z-30 border-b bg-page/85 backdrop-blur-md">
      <div className="mx-auto flex h-15 max-w-6xl items-center gap-2 px-5 sm:px-8">
        <a
          href={paths.landing}
          className="mr-auto flex items-center gap-2.5 rounded-md font-semibold text-base tracking-tight"
        >
          <LogoMark />
          Keyward
        </a>
        <nav aria-label="Main" className="mr-2 flex items-center gap-1 max-sm:hidden">
          {sells && (
            <Button asChild variant="ghost">
              <a href={`${paths.landing}#${pricesId}`}>Pricing</a>
            </Button>
          )}
          <Button asChild variant="ghost">
            <a href={paths.about}>About</a>
          </Button>
          <Button asChild variant="ghost">
            <a href={paths.docs}>API docs</a>
          </Button>
        </nav>
        <IconButton
          label={dark ? 'Use the light theme' : 'Use the dark theme'}
          onClick={() => setTheme(dark ? 'light' : 'dark')}
          className="mr-1"
        >
          {dark ? <Sun /> : <Moon />}
        </IconButton>
        <Button asChild>
          <a href={paths.auth}>Sign in</a>
        </Button>
      </div>
    </header>
  )
}
