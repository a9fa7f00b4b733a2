import { verifySync } from '@node-rs/argon2'
import { verifySync as verifyBcrypt } from '@node-rs/bcrypt'
import { formsOfPassword, isImportedHash } from './imported-hashes.ts'

/** Compares a password with a stored hash, our own or one of another system. */
export const compareHash = (stored: string, password: string): boolean =>
  isImportedHash(stored)
    ? formsOfPassword(password).some((form) => verifyBcrypt(form, stored))
    : verifySync(stored, password)
