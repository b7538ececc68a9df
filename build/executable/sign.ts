import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readMachO } from './mach-o.ts'

/** Programs that sign for macOS: on a Mac, and anywhere. Both sign without a certificate here, which is enough to run. */
const signers = [
  { program: 'codesign', args: ['--force', '--sign', '-'] },
  { program: 'rcodesign', args: ['sign'] },
] as const

/** Signs a program for macOS if a signer is there. Returns whether it has a signature now. */
export const signForMacOs = (file: string): boolean => {
  const signed = signers.some(
    ({ program, args }) => spawnSync(program, [...args, file], { stdio: 'ignore' }).status === 0,
  )
  return signed && readMachO(readFileSync(file)).isSigned
}
