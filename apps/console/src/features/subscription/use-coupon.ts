import { useState } from 'react'
import { call, messageOf } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'

/** The coupon of the next order: the typed text, its error, or its discount. */
export function useCoupon() {
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const validation = useWrite({
    mutationFn: (couponCode: string) => call(wire.payments.validateCoupon, { body: { couponCode } }),
    onError: (failure) => reject(messageOf(failure, 'Invalid coupon code')),
  })
  function reject(reason: string) {
    setError(reason)
    validation.reset()
  }

  return {
    text,
    error,
    applied: validation.data,
    checking: validation.isPending,
    reject,
    type(next: string) {
      setText(next)
      setError(undefined)
    },
    apply(code = text.trim()) {
      if (validation.isPending) return
      setError(code === '' ? 'Please enter a coupon code' : undefined)
      if (code !== '') validation.mutate(code)
    },
    remove() {
      setText('')
      setError(undefined)
      validation.reset()
    },
  }
}

export type Coupon = ReturnType<typeof useCoupon>
