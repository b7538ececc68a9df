import { getAsset } from 'node:sea'
import { Worker } from 'node:worker_threads'
import type { OwnProgram, ProgramParts } from '#lib/platform/program-parts.ts'

/** The first argument of a process of this executable that runs another program than the command line. */
export const ownProgramNames = { events: '__events', recorder: '__recorder' } as const

const createSubcommand = (name: string): OwnProgram => ({
  args: [name],
  // The build writes the digest of all code there.
  readVersion: () => getAsset('version', 'utf8'),
})

/** The parts of the single executable: they are inside it. */
export const createExecutableParts = (): ProgramParts => {
  let workerCode: string | undefined
  return {
    startWorker(role, data = {}, transfer = []) {
      workerCode ??= getAsset('worker.cjs', 'utf8')
      return new Worker(workerCode, { eval: true, workerData: { role, data }, transferList: [...transfer] })
    },
    eventsProcess: createSubcommand(ownProgramNames.events),
    recorder: createSubcommand(ownProgramNames.recorder),
    readAsset: async name => new Uint8Array(getAsset(name)),
  }
}
