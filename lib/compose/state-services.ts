import type { Identity } from '#lib/auth/identity.ts'
import type { IdentityServices } from '#lib/auth/identity-services.ts'
import type { Services } from './services.ts'

/** The parts of a state folder that endpoints use as they are. */
type PlainParts = Pick<Services, 'audit' | 'userConfigs' | 'events'>

/** What a program hands in that has a state folder. A `State` has it. */
export interface StatePorts extends PlainParts {
  readonly identity: Pick<Identity, 'services'>
}

/** Composes the services of a program that has a state folder and no machines: the command line while no service runs. */
export const composeStateServices = ({
  identity,
  audit,
  userConfigs,
  events,
}: StatePorts): IdentityServices & PlainParts => ({ ...identity.services, audit, userConfigs, events })
