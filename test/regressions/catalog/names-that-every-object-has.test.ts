import { expect, test } from 'vitest'
import { parseArchitecture } from '#lib/catalog/identifiers.ts'

test.each(['__proto__', 'constructor', 'toString'])('%s is no architecture', name => {
  expect(parseArchitecture(name)).toBeUndefined()
})
