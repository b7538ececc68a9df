import { ServiceError } from '#lib/errors.ts'
import { findProgram } from '#lib/hypervisor/qemu/programs.ts'
import { getLastLine, runProcess } from '#lib/platform/processes.ts'

/** Milliseconds that a command of the system has. A stop of the service takes at most 20 seconds. */
const timeout = 90_000

/** Runs a command of the system to its end, and gives its exit code and output. */
export type RunSystemCommand = (
  program: string,
  ...args: readonly string[]
) => Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>

/** A host on which the service is installed, or a folder with the files of one. */
export interface Host {
  /** Begins the paths of all files; empty for this host. */
  readonly root: string
  readonly run: RunSystemCommand
}

/** This host. */
export const thisHost: Host = {
  root: '',
  async run(program, ...args) {
    const path = await findProgram(program)
    if (path === undefined)
      throw new ServiceError('unavailable', `This host has no ${program}, which the installation of the service needs.`)
    return runProcess(path, args, { timeout })
  },
}

/** Runs a command that must succeed. Throws `unavailable` with the last line of its output. */
export const runOrThrow = async ({ run }: Host, program: string, ...args: readonly string[]): Promise<void> => {
  const { code, stdout, stderr } = await run(program, ...args)
  if (code !== 0)
    throw new ServiceError(
      'unavailable',
      `${[program, ...args].join(' ')} failed: ${getLastLine(stderr) || getLastLine(stdout) || `it ended with ${code}`}`,
    )
}
