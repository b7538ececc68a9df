import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProgram } from '#lib/entry/cli.ts'
import { formatBashCompletion } from '#lib/entry/completion/bash.ts'
import { formatFishCompletion } from '#lib/entry/completion/fish.ts'
import { findWords } from '#lib/entry/completion/words.ts'
import { formatZshCompletion } from '#lib/entry/completion/zsh.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { newFolder } from '../../support/folder.ts'
import { findProgram } from '../../support/programs.ts'

const words = findWords(await createProgram({} as ProgramParts))

/** Runs a shell without the settings of its user, in an empty folder. Returns the lines that it prints. */
const runShell = (shell: string, args: readonly string[]): readonly string[] => {
  using folder = newFolder()
  const env = { PATH: process.env['PATH'], HOME: folder.path, TERM: 'dumb' }
  const printed = execFileSync(shell, args, { cwd: folder.path, encoding: 'utf8', env, timeout: 60_000 })
  return printed.split('\n').filter(Boolean)
}

/** What each shell offers for the last word of a line. */
const shells: Readonly<Record<string, (line: string) => readonly string[]>> = {
  bash: line => {
    const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vmhost; printf '%s\\n' "\${COMPREPLY[@]}"`
    return runShell('bash', ['--norc', '-c', `${formatBashCompletion(words)}\n${call}`, 'bash', ...line.split(' ')])
  },
  zsh: line => {
    // Completion itself runs in the editor of the line alone, which the last test has.
    const setup = `
compdef() { : }
_files() { : }
compadd() { shift; local offered=(\${(M)@:#$words[CURRENT]*}); print -l -- $offered; (( $#offered )) }`
    const call = 'words=("$@"); CURRENT=$#; _vmhost'
    const script = [setup, formatZshCompletion(words), call].join('\n')
    return runShell('zsh', ['-f', '-c', script, 'zsh', ...line.split(' ')])
  },
  fish: line => runShell('fish', ['--no-config', '-c', `${formatFishCompletion(words)}\ncomplete -C '${line}'`]),
}

describe.each(Object.keys(shells))('%s', shell => {
  const missing = findProgram(shell) ? undefined : `${shell} is not installed`
  test.skipIf(missing)(missing ?? 'completes commands, subcommands of aliases too, and options', () => {
    const complete = shells[shell]!
    expect(complete('vmhost mach')).toEqual(['machines'])
    expect(complete('vmhost machine snap')).toEqual(['snapshots', 'snapshot-schedules'])
    expect(complete('vmhost machines snapshots re')).toEqual(['revert'])
    expect(complete('vmhost machines create web --disk')).toEqual(['--disk-size'])
    expect(complete('vmhost machines start web zzz')).toEqual([])
    expect(complete('vmhost --he')).toEqual(['--help'])
    expect(complete('vmhost ')).toEqual(expect.arrayContaining(['serve', 'exec']))
  })
})

const withoutZsh = findProgram('zsh') ? undefined : 'zsh is not installed'

test.skipIf(withoutZsh)(withoutZsh ?? 'the Tab key of zsh completes a command, after its compinit', () => {
  using folder = newFolder()
  const file = join(folder.path, 'vmhost.zsh')
  writeFileSync(file, formatZshCompletion(words))
  const script = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -u -D; source ${file}; print rea""dy'
zpty -r shell seen '*ready*'
zpty -w -n shell $'vmhost machines snapshots rev\\t'
zpty -r shell seen '*revert*'
zpty -d shell
print done`
  expect(runShell('zsh', ['-f', '-c', script])).toEqual(['done'])
})
