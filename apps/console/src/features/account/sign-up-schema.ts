import { zodResolver } from '@hookform/resolvers/zod'
import { auth as authEndpoints } from '@keyward/contract/auth'
import { z } from 'zod'

export const resolver = zodResolver(
  authEndpoints.register
    .body!.extend({ confirm: z.string() })
    .refine((values) => values.password === values.confirm, {
      path: ['confirm'],
      message: 'Passwords do not match',
    }),
)
