import { useLocation, useNavigate } from 'react-router'
import { useForgotPassword, useResetPassword } from '../features/account/mailed-link.ts'
import { ForgotForm } from '../features/password-reset/forgot-form.tsx'
import { NewPasswordForm } from '../features/password-reset/new-password-form.tsx'
import { PasswordFrame } from '../features/password-reset/password-frame.tsx'
import { paths } from '../lib/navigation/paths.ts'

export const AuthPasswordPage = () => (useLocation().pathname === paths.authReset ? <Reset /> : <Forgot />)

function Forgot() {
  const sending = useForgotPassword()
  return (
    <PasswordFrame step="forgot" lead="Choose a new one for your Keyward console." signIn={paths.auth}>
      <ForgotForm sending={sending} command="npx keyward owner reset-password <email>" />
    </PasswordFrame>
  )
}

function Reset() {
  const navigate = useNavigate()
  const choosing = useResetPassword(() => navigate(paths.dashboard, { replace: true }))
  return (
    <PasswordFrame
      step="reset"
      lead="The new password logs you out on all other devices."
      signIn={paths.auth}
    >
      <NewPasswordForm choosing={choosing} forgotPath={paths.authForgot} />
    </PasswordFrame>
  )
}
