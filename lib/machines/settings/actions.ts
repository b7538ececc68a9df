import * as z from 'zod'
import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'
import { findMissingRight } from '#lib/access/requirement.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Verb } from '#lib/hypervisor/driver.ts'
import { MachineName, type SetMachine } from '../schemas.ts'
import { parseValue, readOptions, type SetOperation } from './setting.ts'

/** An operation of a `set` request that changes no definition. */
export type SetAction = { readonly verb: Verb } | { readonly clone: string | undefined }

const verbs: readonly string[] = [
  'start',
  'stop',
  'restart',
  'reset',
  'pause',
  'suspend',
  'resume',
] satisfies readonly Verb[]

/** The actions by their groups. */
export const actionGroups: Readonly<Record<string, readonly string[]>> = { state: verbs, machine: ['clone'] }

/** The claim that an action needs besides that of `set`: that of its own endpoint. */
const getClaim = (action: SetAction): ClaimName => ('verb' in action ? 'UPDATE_VM_STATES' : 'CREATE_VM')

/** Throws `forbidden` if a caller may not run an action of a request by its own endpoint. */
export const authorizeActions = ({ operations }: SetMachine, caller: Principal): void => {
  for (const operation of operations) {
    const action = readAction(operation)
    const refusal = action && findMissingRight({ claims: [getClaim(action)] }, caller)
    if (refusal)
      throw new ServiceError('forbidden', `${operation.group} ${operation.operation} requires ${refusal.missing}.`)
  }
}

const isVerb = (name: string): name is Verb => verbs.includes(name)

/** Returns the action of an operation, or undefined for a setting. Throws `invalid`. */
export const readAction = (operation: SetOperation): SetAction | undefined => {
  const { group, operation: name, value } = operation
  if (group === 'state' && isVerb(name)) return { verb: name }
  if (group !== 'machine' || name !== 'clone') return undefined
  const { name: option } = readOptions(operation, { name: z.string().optional() })
  const cloneName = option ?? (value === '' ? undefined : value)
  return { clone: cloneName === undefined ? undefined : parseValue('machine clone', MachineName, cloneName) }
}
