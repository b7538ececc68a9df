import * as z from 'zod'
import type { MachineFolders } from '../machine-folders.ts'

/** How a machine was when it was last written down: what a dead service and a dead QEMU leave. */
const Condition = z.object({
  state: z.enum(['stopped', 'running', 'paused', 'suspended', 'invalid']),
  since: z.number(),
  ranFor: z.number(),
  problem: z.string().optional(),
})
export type Condition = z.infer<typeof Condition>

/** The operation under way. `continues` is written just before a guest whose memory was loaded goes on. */
const Step = z.object({
  verb: z.enum(['start', 'stop', 'restart', 'reset', 'pause', 'suspend', 'resume']),
  from: Condition.shape.state,
  continues: z.boolean().default(false),
})
export type Step = z.infer<typeof Step>

/** The two notes of one machine, durable when a write settles. */
export interface Notes {
  condition(): Promise<Condition | undefined>
  step(): Promise<Step | undefined>
  writeCondition(condition: Condition): Promise<void>
  /** Undefined when nothing is under way any more. */
  writeStep(step: Step | undefined): Promise<void>
}

export const notesOf = (folders: MachineFolders, id: string): Notes => ({
  condition: async () => Condition.safeParse(await folders.noted(id, 'run.json')).data,
  step: async () => Step.safeParse(await folders.noted(id, 'op.json')).data,
  writeCondition: condition => folders.note(id, 'run.json', condition),
  writeStep: step => folders.note(id, 'op.json', step),
})
