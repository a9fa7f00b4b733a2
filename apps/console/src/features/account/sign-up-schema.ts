import { zodResolver } from '@hookform/resolvers/zod'
import { endpoints } from '@keyward/contract'
import { z } from 'zod'

export const resolver = zodResolver(
  endpoints.auth.register
    .body!.extend({ confirm: z.string() })
    .refine((values) => values.password === values.confirm, {
      path: ['confirm'],
      message: 'Passwords do not match',
    }),
)
