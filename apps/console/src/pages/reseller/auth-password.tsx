import { useLocation, useNavigate } from 'react-router'
import { ForgotForm } from '../../features/password-reset/forgot-form.tsx'
import { NewPasswordForm } from '../../features/password-reset/new-password-form.tsx'
import { PasswordFrame } from '../../features/password-reset/password-frame.tsx'
import { usePortalForgotPassword, usePortalResetPassword } from '../../features/portal/mailed-link.ts'
import { paths } from '../../lib/navigation/paths.ts'

export const ResellerPasswordPage = () =>
  useLocation().pathname === paths.resellerReset ? <Reset /> : <Forgot />

function Forgot() {
  const sending = usePortalForgotPassword()
  return (
    <PasswordFrame step="forgot" lead="Choose a new one for the reseller portal." signIn={paths.resellerAuth}>
      <ForgotForm sending={sending} command="npx keyward reseller reset-password <email>" />
    </PasswordFrame>
  )
}

function Reset() {
  const navigate = useNavigate()
  const choosing = usePortalResetPassword(() => navigate(paths.resellerDashboard, { replace: true }))
  return (
    <PasswordFrame
      step="reset"
      lead="The new password logs you out on all other devices."
      signIn={paths.resellerAuth}
    >
      <NewPasswordForm choosing={choosing} forgotPath={paths.resellerForgot} />
    </PasswordFrame>
  )
}
