import { execFileSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { chooseAccelerator } from '#lib/hypervisor/qemu/accelerator.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'

/** Whether guests run on the processor itself, or are translated. */
const describeGuests = async (): Promise<string> => {
  const qemu = await findQemu()
  if (!qemu) return 'no QEMU'
  return (await chooseAccelerator(qemu.system)).accelerator === 'kvm' ? 'KVM' : 'no KVM'
}

/**
 * Describes what is about to be measured: when, which commit, on which computer. The load is that of others, so it has to be read before
 * the measurement. `document` is the file that gets the figures.
 */
export const describeRun = async (document: string): Promise<string> => {
  const load = loadavg()[0]!.toFixed(1)
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', '--', '.', `:!${document}`) === '' ? '' : ' and changes'
  const [{ model } = { model: 'unknown processors' }, ...others] = cpus()
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}`,
    `commit ${git('rev-parse', '--short', 'HEAD')}${changed}`,
    `${others.length + 1} × ${model.trim()}`,
    await describeGuests(),
    `Node ${process.versions.node}`,
    `load before ${load}`,
  ].join(', ')
}
