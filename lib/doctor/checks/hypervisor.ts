import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { createOk, createProblem, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

const readVersion = async (program: string, environment: NodeJS.ProcessEnv): Promise<string> => {
  const { code, stdout } = await runProcess(program, ['--version'], { timeout: 10_000, environment })
  return (code === 0 && /version (\S+)/.exec(stdout)?.[1]) || 'of an unknown version'
}

/** Checks that the hypervisor of the settings is installed, and can be started. */
export const checkHypervisor = async ({ settings, installPackage }: Surroundings): Promise<Finding> => {
  if (settings.driver === 'embedded')
    return createOk('The embedded driver runs the machines; it needs no other program.')
  const programs = await findQemu()
  if (programs) return createOk(`QEMU ${await readVersion(programs.system, programs.environment)} (${programs.system})`)
  const remedy = installPackage('qemu')
  return settings.driver === 'qemu'
    ? createProblem('The driver is qemu, and qemu-system-x86_64 and qemu-img are not on PATH.', remedy)
    : createWarning(
        'QEMU is not installed, so the embedded driver runs the machines, which is for small guests.',
        remedy,
      )
}
