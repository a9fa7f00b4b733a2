import { resellerSession } from '../../lib/api/session.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { StartRoot } from '../start-root.tsx'
import { ResellerSignInPage } from './sign-in.tsx'

const loadSession = () => import('../../features/portal/session.ts')

export const ResellerSignInRoot = () => (
  <StartRoot session={resellerSession} home={paths.resellerDashboard} loadSession={loadSession}>
    {(parts) => <ResellerSignInPage {...parts} />}
  </StartRoot>
)
