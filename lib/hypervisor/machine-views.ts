import type { Definition } from './definition.ts'
import type { MachineView } from './driver.ts'
import type { InvalidMachine } from './files/machine-folders.ts'

/** Returns the view of a machine that has never run. */
export const createStoppedView = (definition: Definition, home: string): MachineView => ({
  id: definition.id,
  name: definition.name,
  state: 'stopped',
  definition,
  home,
  addresses: [],
  since: Date.now(),
  ranFor: 0,
})

/** Returns the view of a folder whose definition cannot be read: enough to find and to delete it. */
export const createInvalidView = ({ id, home, name = id, problem }: InvalidMachine): MachineView => {
  const definition = {
    id,
    name,
    description: problem,
    cpus: 1,
    memory: 1,
    disks: [],
    networks: [],
    created_at: new Date(0).toISOString(),
  }
  return { ...createStoppedView(definition, home), state: 'invalid', problem }
}
