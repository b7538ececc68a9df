import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'

type Entered = Pick<MachineView, 'name' | 'definition'>

/**
 * Whether a caller may enter a machine: run commands in it, read and write its files. That takes EXECUTE_COMMAND_VM, or LIST_VM for
 * its owner.
 */
export const mayEnter = ({ id, superUser, claims }: Principal, { definition }: Entered): boolean =>
  superUser || claims.has('EXECUTE_COMMAND_VM') || (definition.owner === id && claims.has('LIST_VM'))

/** Throws `forbidden` unless the caller may enter a machine. */
export const assertMayEnter = (caller: Principal, machine: Entered): void => {
  if (mayEnter(caller, machine)) return
  throw new ServiceError(
    'forbidden',
    `This needs the claim EXECUTE_COMMAND_VM, or LIST_VM and a machine that you made; ${machine.name} is not yours.`,
  )
}
