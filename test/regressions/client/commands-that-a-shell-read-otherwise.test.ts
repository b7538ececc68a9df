import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test, vi } from 'vitest'
import type { formatCommand as FormatCommand } from '#lib/web/calls/format-command.ts'

/** The web console's own text of a command; the build puts the commands into its bundle. */
let formatCommand: typeof FormatCommand
beforeAll(async () => {
  vi.stubGlobal('location', new URL('https://host.example.test'))
  vi.stubGlobal('OPERATION_ACCESS', {})
  vi.stubGlobal('OPERATION_COMMANDS', {
    'machines.start': {
      words: 'machines start',
      inputs: [
        ['<machine>', 'params.id'],
        ['--wait <seconds>', 'query.wait'],
      ],
    },
  })
  ;({ formatCommand } = await import('#lib/web/calls/format-command.ts'))
})

const readWords = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', `vmhost() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')

test.each(['web', "it's; rm -rf $HOME", '=ls', 'two words', '`id`'])('the machine %s', id => {
  const command = formatCommand({ operation: 'machines.start', params: { id }, query: { wait: 5 } })
  expect(readWords(command)).toEqual(['machines', 'start', id, '--wait', '5'])
  // In zsh a word that begins with = names a program.
  expect(command).not.toMatch(/ =/)
})

test.each(['-f', '--force now'])('a machine called %s is no option', id => {
  const command = formatCommand({ operation: 'machines.start', params: { id }, query: { wait: 5 } })
  expect(readWords(command)).toEqual(['machines', 'start', '--wait', '5', '--', id])
})
