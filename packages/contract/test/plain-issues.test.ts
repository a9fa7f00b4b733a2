import { expect, test } from 'vitest'
import { z } from 'zod'
import { apps } from '../src/apps.ts'
import { licenseTypes } from '../src/license-types.ts'
import { licenses } from '../src/licenses.ts'

const devicesText = 'Must be 1 to 1000, or -1 for any number'

test.each<[string, z.ZodType, unknown, string]>([
  ['a missing value', apps.create.body!, {}, 'Is required'],
  ['a number as text', apps.create.body!, { name: 5 }, 'Must be text'],
  ['text as a number', licenses.list.query!.shape.page, 'x', 'Must be a number'],
  ['a fraction', z.int(), 1.5, 'Must be a whole number'],
  ['text as a yes', z.boolean(), 'yes', 'Must be true or false'],
  ['text as a list', z.array(z.string()), 'a', 'Must be a list'],
  ['a list as an object', z.object({}), [], 'Must be an object'],
  ['text as texts', apps.updateErrorMessages.body!, 'a', 'Must be an object'],
  ['a high number', z.int().max(2160), 99_999, 'Must be at most 2160'],
  ['a low number', z.int().min(0), -1, 'Must be at least 0'],
  ['long text', z.string().max(32), 'x'.repeat(33), 'Must have at most 32 characters'],
  ['no text', z.string().min(1), '', 'Must not be empty'],
  ['short text', z.string().min(3), 'x', 'Must have at least 3 characters'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'Must have at most 1 entry'],
  ['another word', z.enum(['date', 'forever']), 'soon', 'Must be one of date, forever'],
  [
    'neither of two',
    z.union([z.enum(['a', 'b']), z.literal('any')]),
    'c',
    'Is not one of the values that are accepted',
  ],
  ['no devices', licenseTypes.create.body!.shape.devices, 0, devicesText],
  ['too many devices', licenseTypes.create.body!.shape.devices, 1001, devicesText],
  ['half a device', licenseTypes.create.body!.shape.devices, 1.5, devicesText],
  ['another constant', z.literal('premium'), 'free', 'Must be premium'],
])('says plainly what is wrong with %s', (_, schema, value, message) => {
  expect(schema.safeParse(value).error?.issues[0]?.message).toBe(message)
})

test('keeps the messages of the schemas', () => {
  const { error } = apps.update.body!.safeParse({ version: '1'.repeat(40) })
  expect(error?.issues.map((issue) => issue.message)).toEqual(['Version can have at most 32 characters'])
})
