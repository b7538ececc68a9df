import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { cpus, loadavg } from 'node:os'

const hasKvm = (): boolean => {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Describes what is about to be measured: when, which commit, on which computer. The load is that of others, so it has to be read before
 * the measurement. `document` is the file that gets the figures.
 */
export const describeRun = (document: string): string => {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', '--', '.', `:!${document}`) === '' ? '' : ' and changes'
  const [{ model } = { model: 'unknown processors' }, ...others] = cpus()
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}`,
    `commit ${git('rev-parse', '--short', 'HEAD')}${changed}`,
    `${others.length + 1} × ${model.trim()}`,
    hasKvm() ? 'KVM' : 'no KVM',
    `Node ${process.versions.node}`,
    `load before ${loadavg()[0]!.toFixed(1)}`,
  ].join(', ')
}
