import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createProgram } from '#lib/entry/cli.ts'
import { formatBashCompletion } from '#lib/entry/completion.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'

test('bash completes commands, subcommands of aliases too, and options', async () => {
  const script = formatBashCompletion(await createProgram({} as ProgramParts))
  /** What bash offers for the last of these words. */
  const complete = (...words: readonly string[]): readonly string[] => {
    const call = `
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vmhost; printf '%s\\n' "\${COMPREPLY[@]}"`
    const args = ['--norc', '-c', script + call, 'bash', ...words]
    return execFileSync('bash', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
  }
  expect(complete('vmhost', 'mach')).toEqual(['machines'])
  expect(complete('vmhost', 'machine', 'snap')).toEqual(['snapshots'])
  expect(complete('vmhost', 'machines', 'snapshots', 're')).toEqual(['revert'])
  expect(complete('vmhost', 'machines', 'create', 'web', '--disk')).toEqual(['--disk-size'])
  expect(complete('vmhost', 'machines', 'start', 'web', 'x')).toEqual([])
  expect(complete('vmhost', '')).toEqual(expect.arrayContaining(['serve', 'exec', '--help']))
})
