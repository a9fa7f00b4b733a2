import type { RefusalDetails as ContractDetails, DataOf, endpoints, MessageKey } from '@keyward/contract'
import { expectTypeOf, it } from 'vitest'
import type {
  DevicesData,
  InitData,
  LicenseState,
  RefusalDetails,
  SessionUser,
  UpdateData,
  UserData,
  ValidatedLicense,
} from '../src/index.ts'

type Answer<Name extends keyof typeof endpoints.program> = DataOf<(typeof endpoints.program)[Name]>

it('the public types accept every response of the contract', () => {
  expectTypeOf<Omit<Answer<'init'>, 'session'>>().toExtend<InitData>()
  expectTypeOf<Answer<'session'>>().toExtend<UserData>()
  expectTypeOf<Answer<'register'>>().toExtend<UserData>()
  expectTypeOf<Answer<'login'>>().toExtend<UserData>()
  expectTypeOf<Answer<'license'>>().toExtend<UserData>()
  expectTypeOf<Answer<'upgrade'>>().toExtend<UserData>()
  expectTypeOf<keyof Answer<'login'>['user']>().toEqualTypeOf<keyof SessionUser>()
  expectTypeOf<Answer<'updates'>>().toExtend<UpdateData>()
  expectTypeOf<ContractDetails>().toExtend<RefusalDetails>()
  expectTypeOf<NonNullable<Answer<'validate'>['license']>>().toExtend<ValidatedLicense>()
  expectTypeOf<Answer<'devices'>>().toExtend<DevicesData>()
  expectTypeOf<Answer<'trial'>>().toExtend<UserData>()
})

it("the license states are the contract's message keys without the success message", () => {
  expectTypeOf<LicenseState>().toEqualTypeOf<Exclude<MessageKey, 'loggedInMsg'>>()
})
