import { getAsset } from 'node:sea'
import { runInThisContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import type { OwnProgram, ProgramParts } from '#lib/platform/program-parts.ts'

/** The first argument of a process of this executable that runs another program than the command line, and its code. */
const ownPrograms: Readonly<Record<string, string>> = { __events: 'events.js', __recorder: 'recorder.js' }

/** Runs the program that the arguments name, if they name one. */
export const runOwnProgram = (argv: string[]): boolean => {
  const code = ownPrograms[argv[2] ?? '']
  if (code === undefined) return false
  // The program looks for its arguments where a program of its own has them.
  argv.splice(2, 1)
  runInThisContext(getAsset(code, 'utf8'), { filename: code })
  return true
}

const createOwnProgram = (argument: string): OwnProgram => ({
  args: [argument],
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
    eventsProcess: createOwnProgram('__events'),
    recorder: createOwnProgram('__recorder'),
    readAsset: async name => new Uint8Array(getAsset(name)),
  }
}
