import type { Definition } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'

/** Changes members of a machine's definition. */
export const changeMachine = async (
  driver: Pick<HypervisorDriver, 'get' | 'configure'>,
  id: string,
  changes: Partial<Definition>,
): Promise<MachineView> => driver.configure(id, { ...(await driver.get(id))!.definition, ...changes })
