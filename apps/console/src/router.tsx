import { type ComponentType, lazy, Suspense } from 'react'
import { Navigate, Route, Routes } from 'react-router'
import { ownerSession, useToken } from './lib/api/session.ts'
import { base } from './lib/navigation/base.ts'
import {
  appPath,
  customerPath,
  licensePath,
  paths,
  resellerPath,
  userPath,
  webhookPath,
} from './lib/navigation/paths.ts'
import { NotFoundPage } from './pages/not-found.tsx'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { PageSpinner } from './ui/spinner.tsx'

const here = window.location.pathname
// The portal loads nothing of the owner's console, even when an owner is signed in in the same browser.
const opensPortal = here.startsWith(`${base}/reseller/`)
const signedInAtStart = !opensPortal && ownerSession.get() !== null
const opensConsole = signedInAtStart || opensPortal || here.startsWith(paths.auth)
const opens = (...owner: string[]) => signedInAtStart && owner.includes(here)

/** `early` starts loading immediately, so that layouts and page load in parallel. */
function page(load: () => Promise<ComponentType>, early = false) {
  const loading = early ? load() : undefined
  // The error boundary of the page reports a failure.
  loading?.catch(() => {})
  const Page = lazy(async () => ({ default: await (loading ?? load()) }))
  return (
    <Suspense fallback={<PageSpinner />}>
      <Page />
    </Suspense>
  )
}

const publicLayout = page(() => import('./pages/public/public-layout.tsx').then((m) => m.PublicLayout))
const landing = page(() => import('./pages/public/landing.tsx').then((m) => m.LandingPage))
const about = page(() => import('./pages/public/about.tsx').then((m) => m.AboutPage))
const terms = page(() => import('./pages/public/terms.tsx').then((m) => m.TermsPage))
const privacy = page(() => import('./pages/public/privacy.tsx').then((m) => m.PrivacyPage))

const consoleRoot = page(() => import('./pages/console-root.tsx').then((m) => m.ConsoleRoot), opensConsole)
const auth = page(() => import('./pages/auth.tsx').then((m) => m.AuthPage), here.startsWith(paths.auth))
const invitation = page(() => import('./pages/invitation.tsx').then((m) => m.InvitationPage))
const ownerShell = page(() => import('./pages/owner/shell.tsx').then((m) => m.OwnerShell), signedInAtStart)
const dashboard = page(
  () => import('./pages/owner/dashboard.tsx').then((m) => m.DashboardPage),
  opens(paths.root, paths.landing, paths.dashboard),
)
const resellers = page(
  () => import('./pages/owner/resellers.tsx').then((m) => m.ResellersPage),
  opens(paths.resellers),
)
const licenses = page(
  () => import('./pages/owner/licenses.tsx').then((m) => m.LicensesPage),
  opens(paths.licenses),
)
const imports = page(
  () => import('./pages/owner/imports.tsx').then((m) => m.ImportsPage),
  opens(paths.imports),
)
const orders = page(() => import('./pages/owner/orders.tsx').then((m) => m.OrdersPage), opens(paths.orders))
const sales = page(() => import('./pages/owner/sales.tsx').then((m) => m.SalesPage), opens(paths.sales))
const endUsers = page(
  () => import('./pages/owner/end-users.tsx').then((m) => m.EndUsersPage),
  opens(paths.users),
)
const customers = page(
  () => import('./pages/owner/customers.tsx').then((m) => m.CustomersPage),
  opens(paths.customers),
)
const opensItem = (list: string) => signedInAtStart && here.startsWith(`${list}/`)
const app = page(() => import('./pages/owner/app.tsx').then((m) => m.AppPage), opensItem(`${base}/apps`))
const license = page(
  () => import('./pages/owner/license.tsx').then((m) => m.LicensePage),
  opensItem(paths.licenses),
)
const endUser = page(
  () => import('./pages/owner/end-user.tsx').then((m) => m.EndUserPage),
  opensItem(paths.users),
)
const customer = page(
  () => import('./pages/owner/customer.tsx').then((m) => m.CustomerPage),
  opensItem(paths.customers),
)
const reseller = page(
  () => import('./pages/owner/reseller.tsx').then((m) => m.ResellerPage),
  opensItem(paths.resellers),
)
const activity = page(
  () => import('./pages/owner/activity.tsx').then((m) => m.ActivityPage),
  opens(paths.activity),
)
const profile = page(
  () => import('./pages/owner/profile.tsx').then((m) => m.ProfilePage),
  opens(paths.profile),
)
const security = page(
  () => import('./pages/owner/security.tsx').then((m) => m.SecurityPage),
  opens(paths.security),
)
const settings = page(
  () => import('./pages/owner/settings.tsx').then((m) => m.SettingsPage),
  opens(paths.settings),
)
const apiKeys = page(
  () => import('./pages/owner/api-keys.tsx').then((m) => m.ApiKeysPage),
  opens(paths.apiKeys),
)
const notifications = page(
  () => import('./pages/owner/notifications.tsx').then((m) => m.NotificationsPage),
  opens(paths.notifications),
)
const integrations = page(
  () => import('./pages/owner/integrations.tsx').then((m) => m.IntegrationsPage),
  opens(paths.integrations),
)
const webhook = page(
  () => import('./pages/owner/webhook.tsx').then((m) => m.WebhookPage),
  opensItem(paths.integrations),
)
const members = page(
  () => import('./pages/owner/members.tsx').then((m) => m.MembersPage),
  opens(paths.members),
)
const audit = page(() => import('./pages/owner/audit.tsx').then((m) => m.AuditPage), opens(paths.audit))
const subscription = page(
  () => import('./pages/owner/subscription.tsx').then((m) => m.SubscriptionPage),
  opens(paths.subscription),
)
const portalShell = page(
  () => import('./pages/reseller/shell.tsx').then((m) => m.PortalShell),
  opensPortal && !here.startsWith(paths.resellerAuth),
)
const portalAuth = page(
  () => import('./pages/reseller/auth.tsx').then((m) => m.ResellerAuthPage),
  here.startsWith(paths.resellerAuth),
)
const portalDashboard = page(
  () => import('./pages/reseller/dashboard.tsx').then((m) => m.ResellerDashboardPage),
  here === paths.resellerDashboard,
)
const portalLicenses = page(
  () => import('./pages/reseller/licenses.tsx').then((m) => m.ResellerLicensesPage),
  here === paths.resellerLicenses,
)
const portalProfile = page(
  () => import('./pages/reseller/profile.tsx').then((m) => m.ResellerProfilePage),
  here === paths.resellerProfile,
)
const portalSecurity = page(
  () => import('./pages/reseller/security.tsx').then((m) => m.ResellerSecurityPage),
  here === paths.resellerSecurity,
)

export function Router() {
  const signedIn = useToken(ownerSession) !== null
  const texts = (
    <>
      <Route path={paths.about} element={about} />
      <Route path={paths.terms} element={terms} />
      <Route path={paths.privacy} element={privacy} />
    </>
  )
  return (
    <ErrorBoundary whole>
      <Routes>
        {!signedIn && (
          <Route element={publicLayout}>
            <Route path={paths.root} element={landing} />
            <Route path={paths.landing} element={landing} />
            {texts}
          </Route>
        )}
        <Route element={consoleRoot}>
          <Route path={paths.auth} element={auth} />
          <Route path={paths.authForgot} element={auth} />
          <Route path={paths.authReset} element={auth} />
          <Route path={paths.authInvitation} element={invitation} />
          <Route element={ownerShell}>
            {signedIn && (
              <>
                <Route path={paths.root} element={<Navigate to={paths.dashboard} replace />} />
                <Route path={paths.landing} element={<Navigate to={paths.dashboard} replace />} />
                {texts}
              </>
            )}
            <Route path={paths.dashboard} element={dashboard} />
            <Route path={paths.resellers} element={resellers} />
            <Route path={paths.licenses} element={licenses} />
            <Route path={paths.imports} element={imports} />
            <Route path={paths.orders} element={orders} />
            <Route path={paths.sales} element={sales} />
            <Route path={paths.users} element={endUsers} />
            <Route path={paths.customers} element={customers} />
            <Route path={appPath(':id')} element={app} />
            <Route path={licensePath(':id')} element={license} />
            <Route path={userPath(':id')} element={endUser} />
            <Route path={customerPath(':id')} element={customer} />
            <Route path={resellerPath(':id')} element={reseller} />
            <Route path={paths.activity} element={activity} />
            <Route path={paths.profile} element={profile} />
            <Route path={paths.security} element={security} />
            <Route path={paths.settings} element={settings} />
            <Route path={paths.apiKeys} element={apiKeys} />
            <Route path={paths.notifications} element={notifications} />
            <Route path={paths.integrations} element={integrations} />
            <Route path={webhookPath(':id')} element={webhook} />
            <Route path={paths.members} element={members} />
            <Route path={paths.audit} element={audit} />
            <Route path={paths.subscription} element={subscription} />
          </Route>
          <Route path={paths.resellerAuth} element={portalAuth} />
          <Route path={paths.resellerForgot} element={portalAuth} />
          <Route path={paths.resellerReset} element={portalAuth} />
          <Route element={portalShell}>
            <Route path={paths.resellerDashboard} element={portalDashboard} />
            <Route path={paths.resellerLicenses} element={portalLicenses} />
            <Route path={paths.resellerProfile} element={portalProfile} />
            <Route path={paths.resellerSecurity} element={portalSecurity} />
          </Route>
        </Route>
        <Route path="*" element={<NotFoundPage />} />
      </Routes>
    </ErrorBoundary>
  )
}
