import { useMutation } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { toast } from '../../ui/toast.tsx'
import { useStartSession } from './session.ts'

export const usePortalForgotPassword = () =>
  useMutation({ mutationFn: (body: { email: string }) => call(wire.portal.forgotPassword, { body }) })

export function usePortalResetPassword(onDone: () => void) {
  const start = useStartSession()
  return useMutation({
    mutationFn: (body: { token: string; password: string }) => call(wire.portal.resetPassword, { body }),
    onSuccess: (data) => {
      start(data)
      toast.success('Password changed', { description: 'You have been logged out on all other devices.' })
      onDone()
    },
  })
}
