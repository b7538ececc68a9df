import type { Area } from '../../case.ts'
import { accessCases } from './access.ts'
import { inputCases } from './input.ts'
import { methodCases } from './methods.ts'

/** What follows from the contracts alone: refusals of callers, methods and input, for every endpoint. */
export const contracts: Area = {
  name: 'contracts',
  withHost: true,
  people: { stranger: {} },
  cases: [...accessCases, ...methodCases, ...inputCases],
}
