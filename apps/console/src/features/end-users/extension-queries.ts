import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import type { KeyedBody } from '../../lib/form/use-request.ts'
import { type Extension, moreText } from '../../lib/format/extension.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { inSentence, undoEndUsers } from './queries.ts'

type ExtensionRequest = Pick<KeyedBody<{ action: 'extend'; ids: string[] } & Extension>, 'body'> &
  Partial<KeyedBody<unknown>>

/** Extends one end user by the call for many, which says how to undo it. */
export function useExtend() {
  return useWrite({
    mutationFn: (request: ExtensionRequest) => call(wire.bulk.clients, request),
    onSuccess: ({ clients: [user], changed, undo }, { body }) => {
      if (changed === 0) {
        toast.info('Nothing to Extend', { description: `${inSentence(user)} never expires.` })
        return
      }
      const isNewEnd = 'expiresAt' in body
      toast.success(isNewEnd ? 'Expiry Changed' : 'Subscription Extended', {
        description: isNewEnd
          ? 'The new expiry applies immediately.'
          : `${inSentence(user)} has ${moreText(body.duration)}.`,
        ...undoEndUsers(undo),
      })
    },
    onError: (error) => toastFailed('Extend Failed', error, 'Failed to extend subscription.'),
  })
}
