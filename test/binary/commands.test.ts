import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandGroups } from '#build/commands/groups.ts'
import { createProgram } from '#lib/entry/cli.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { runExecutable, serveExecutable, whySkipped, withoutExecutable } from '../support/executable.ts'
import { newState, type Service } from '../support/service.ts'

interface Case {
  /** The command, without its arguments. */
  readonly command: string
  readonly args?: string
  /** Instead of `args`, where they are known only then. */
  readonly findArgs?: () => Promise<string>
  readonly stdin?: string
  readonly code?: number
  /** What it writes to standard output, or to standard error if it fails. */
  readonly says: RegExp
}

const password = 'Another-Horse-7-Battery'
const local = '--connection provider=local-storage'
const demo = 'demo 1 x86_64'

const state = newState()
let service: Service | undefined
const run = (args: string, stdin = '') =>
  runExecutable([...args.split(' '), '--state', state.path], { cwd: state.path, stdin })
const findJob = async (): Promise<string> => JSON.parse((await run('jobs list --json')).stdout)[0].id

/** Commands on a running service, in an order in which each finds what it needs. */
const onService: readonly Case[] = [
  {
    command: 'users add',
    args: 'jane --email jane@example.test',
    stdin: `${password}\n`,
    says: /^Added jane with USER/,
  },
  { command: 'users list', says: /jane@example\.test/ },
  { command: 'users grant', args: 'jane --claim LIST_USER', says: /^jane has LIST_USER/ },
  { command: 'users revoke', args: 'jane --claim LIST_USER', says: /^jane does not have LIST_USER/ },
  { command: 'users set-password', args: 'jane --generate', says: /^The new password of jane: \S+/ },
  { command: 'users unlock', args: 'jane', says: /^jane can sign in again/ },
  { command: 'users remove', args: 'jane', says: /^Removed jane/ },
  { command: 'roles add', args: 'build --claim LIST_VM', says: /^Added BUILD with LIST_VM/ },
  { command: 'roles grant', args: 'build UPDATE_VM_STATES', says: /^BUILD has UPDATE_VM_STATES/i },
  { command: 'roles revoke', args: 'build UPDATE_VM_STATES', says: /^BUILD does not have/i },
  { command: 'roles list', says: /^BUILD +1 claim/m },
  { command: 'roles remove', args: 'build', says: /^Removed BUILD/i },
  { command: 'claims add', args: 'payroll', says: /^Added PAYROLL/ },
  { command: 'claims list', says: /^PAYROLL/m },
  { command: 'claims remove', args: 'payroll', says: /^Removed PAYROLL/i },
  { command: 'link', says: /#\/link\/[\w-]{43}\nThe link works once/ },
  { command: 'keys rotate', says: /signs tokens with the key/ },
  { command: 'catalog push', args: `demo --version 1 --machine demo ${local} --format zstd`, says: /^Pushed demo 1/ },
  { command: 'catalog list', says: /^demo +1 +x86_64/m },
  { command: 'catalog show', args: demo, says: /pack +\S+ [kM]B/ },
  { command: 'catalog pull', args: 'demo --name second', says: /second/ },
  { command: 'catalog taint', args: demo, says: /demo/ },
  { command: 'catalog untaint', args: demo, says: /demo/ },
  { command: 'catalog clean', args: local, says: /can be removed/ },
  { command: 'catalog delete', args: `${demo} --no-clean-remote`, says: /demo/ },
  {
    command: 'catalog import',
    args: `demo --version 1 --architecture x86_64 ${local}`,
    says: /^Imported demo 1 x86_64: a pack of/,
  },
  { command: 'catalog revoke', args: demo, says: /demo/ },
  { command: 'jobs list', says: /catalog/ },
  { command: 'jobs show', findArgs: findJob, says: /state +completed, 100%/ },
  { command: 'jobs cancel', findArgs: findJob, code: 3, says: /ended|completed/ },
  { command: 'console', args: 'nothing', stdin: '\x1d', code: 4, says: /no machine/ },
  { command: 'tunnel', args: 'demo 7', code: 3, says: /Tunnels are unsupported by the embedded driver/ },
  { command: 'cp', args: 'demo:/etc/hosts .', code: 3, says: /demo is stopped\. Start it first/ },
  { command: 'machines list', says: /^demo +stopped/m },
  { command: 'api', args: 'GET /machines/demo/status', says: /"status": "stopped"/ },
  { command: 'audit list', says: /catalog\/push/ },
  { command: 'audit export', says: /"operation":"claims\/create"/ },
  { command: 'service install', args: '--print', says: /^KillMode=process$/m },
  { command: 'service status', says: /^service +All services are running/m },
  { command: 'doctor', says: /^ok +service +The service runs/m },
  {
    command: 'report',
    findArgs: async () => `${join(state.path, 'report.tar.gz')} --log-file ${join(state.path, 'none')}`,
    says: /^Wrote \S+ with versions\.json/,
  },
  { command: 'storage backup', findArgs: async () => join(state.path, 'backup.db'), says: /^Copied \d+ documents/ },
]

/** Commands that need no service, or none that runs. */
const alone: readonly Case[] = [
  { command: 'storage copies', says: /^There are no copies of the store|^MADE/ },
  { command: 'storage restore', findArgs: async () => join(state.path, 'backup.db'), says: /^Restored/ },
  { command: 'users list', says: /root/ },
  { command: 'catalog list', says: /^demo +1 +x86_64/m },
]

/** Commands that are tested on their own below, and in the files beside this one. */
const elsewhere = [
  'service uninstall',
  'serve',
  'routes',
  'keygen',
  'storage rekey',
  'exec',
  'completion',
  'login',
  'logout',
  'context list',
  'context use',
  'context remove',
]

/** Groups whose commands are data, which one runner calls: one command of them has a case. */
const ofData = new Set(
  commandGroups.flatMap(({ name, commands }) => commands.map(command => `${name} ${command.name}`.trim())),
)

const listCommands = (command: Command, path: readonly string[] = []): readonly string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap(child => listCommands(child, [...path, child.name()]))

const runCase = async ({ command, args = '', findArgs, stdin, code = 0, says }: Case): Promise<void> => {
  const all = [command, findArgs ? await findArgs() : args].filter(Boolean).join(' ')
  const ended = await run(all, stdin)
  expect(ended).toMatchObject({ code, [code === 0 ? 'stdout' : 'stderr']: expect.stringMatching(says) })
}

test('every command has a case here', async () => {
  // The tree alone needs no parts.
  const commands = listCommands(await createProgram({} as ProgramParts))
  const tested = [...onService, ...alone].map(({ command }) => command).filter(command => !ofData.has(command))
  expect([...new Set([...tested, ...elsewhere])].sort()).toEqual(
    commands.filter(command => !ofData.has(command)).sort(),
  )
})

describe.skipIf(withoutExecutable)(`the executable, in an empty folder without an environment${whySkipped}`, () => {
  beforeAll(async () => {
    service = await serveExecutable(state.path)
  })
  afterAll(() => state[Symbol.dispose]())

  test.for(onService)('on a running service: $command', runCase)

  test('completion', async () => {
    expect(await runExecutable(['completion', 'bash'], { cwd: state.path })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^complete -o default -F _vmhost vmhost$/m),
    })
  })

  // Options after the machine are those of the command in the guest.
  test('on a running service: exec', async () => {
    const args = ['exec', '--state', state.path, 'demo', 'ls', '-l']
    expect(await runExecutable(args, { cwd: state.path })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('demo is stopped'),
    })
  })

  test('its service ends with 0', async () => {
    expect(await service!.stop()).toBe(0)
  })

  test.for(alone)('without a service: $command', runCase)

  test('--version, and routes', async () => {
    using empty = newState()
    const cwd = empty.path
    expect(await runExecutable(['--version'], { cwd })).toMatchObject({ code: 0, stdout: '0.1.0\n', stderr: '' })
    expect((await runExecutable(['routes'], { cwd })).stdout.split('\n').length).toBeGreaterThan(100)
    expect((await runExecutable([], { cwd })).code).toBe(2)
  })
})
