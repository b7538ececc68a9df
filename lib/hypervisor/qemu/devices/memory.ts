import { ServiceError } from '#lib/errors.ts'
import { isModern } from '../../parts.ts'
import { describeMemory, describeMemoryModule, memorySlots } from '../arguments/machine.ts'
import type { Definition } from '../../definition.ts'
import { type Change, isRunning, refuseWhileRunning } from './change.ts'
import { plug, unplug } from './plug.ts'
import type { Step } from './step.ts'

/** MB. Guests take memory in blocks of this size. */
const blockSize = 128

type Memory = Pick<Definition, 'memory' | 'memory_modules' | 'max_memory' | 'machine_type'>

/** Returns the memory modules after a change of a running machine: another one, or without the last ones. */
const changeModules = (current: Memory, memory: number): readonly number[] => {
  const { memory: present, memory_modules: modules = [], max_memory = present } = current
  if (memory >= present) {
    if (!isModern(current) || memory > max_memory)
      refuseWhileRunning('memory', ` to more than max_memory, which is ${max_memory} MB`)
    if ((memory - present) % blockSize !== 0)
      throw new ServiceError('invalid', `memory: a running machine takes multiples of ${blockSize} MB more.`)
    if (modules.length === memorySlots) refuseWhileRunning('memory', ', for all slots have a module')
    return [...modules, memory - present]
  }
  let rest = present
  const kept = [...modules]
  while (rest > memory && kept.length > 0) rest -= kept.pop() ?? 0
  if (rest !== memory) refuseWhileRunning('memory', ' to less, except by what was added last')
  return kept
}

/**
 * Returns the definition with the memory modules that its amount of memory takes. The memory of a machine that does not run has
 * no modules. Throws `conflict` for an amount that a running machine cannot take.
 */
export const arrangeMemory = (current: Definition, next: Definition, hot: boolean): Definition => {
  if (next.memory === current.memory) return next
  const { memory_modules: _, ...rest } = next
  const modules = hot ? changeModules(current, next.memory) : []
  return { ...rest, ...(modules.length > 0 && { memory_modules: [...modules] }) }
}

/** Returns the definition with these memory modules. */
const recordModules =
  (change: (modules: readonly number[]) => readonly number[]) =>
  (definition: Definition): Definition => {
    const { memory, memory_modules: before = [] } = definition
    const after = change(before)
    const sum = (modules: readonly number[]): number => modules.reduce((total, size) => total + size, 0)
    return { ...definition, memory: memory - sum(before) + sum(after), memory_modules: [...after] }
  }

const addModule = ({ running }: Change, slot: number, size: number): Step => {
  const device = describeMemoryModule(slot)
  const id = device.memdev
  return {
    phase: 'give',
    record: recordModules(modules => [...modules, size]),
    async apply() {
      const { qmp } = running()
      await qmp.execute('object-add', describeMemory(id, size))
      try {
        await plug(running(), device)
      } catch (error) {
        await qmp.execute('object-del', { id }).catch(running().warn)
        throw error
      }
    },
    async undo() {
      await unplug(running(), device)
      await running().qmp.execute('object-del', { id })
    },
  }
}

const removeModule = ({ running }: Change, slot: number): Step => {
  const device = describeMemoryModule(slot)
  return {
    phase: 'release',
    record: recordModules(modules => modules.slice(0, slot)),
    apply: () => unplug(running(), device),
    undo: () => plug(running(), device),
    finish: async () => void (await running().qmp.execute('object-del', { id: device.memdev })),
  }
}

/** Returns the steps that change the memory of a running machine. `next` is a result of `arrangeMemory`. */
export const planMemorySteps = (change: Change): readonly Step[] => {
  if (!isRunning(change)) return []
  const { memory_modules: before = [] } = change.view.definition
  const { memory_modules: after = [] } = change.next
  return [
    ...after.slice(before.length).map((size, at) => addModule(change, before.length + at, size)),
    ...before
      .map((_, slot) => removeModule(change, slot))
      .slice(after.length)
      .toReversed(),
  ]
}
