/**
 * Runs README.md, and then docs/build-farm.md, as a newcomer would: clones the last commit, runs every command of them in order in
 * one shell, and compares what is printed with what they say. `…` in an expected line stands for anything, an id for any id. In place of `npm ci` the
 * dependencies are linked from here, where they come from the same lock file.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Block {
  readonly commands: string
  readonly expected: readonly string[] | undefined
}

const readme = readFileSync('README.md', 'utf8')
const [forUsers = '', forDevelopers = ''] = readme.split('\n## Development\n')

const walk = forUsers + readFileSync('docs/build-farm.md', 'utf8')

const blocks: readonly Block[] = [...walk.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(match => ({
  commands: match[1]!,
  expected: match[2]?.trimEnd().split('\n'),
}))

const marker = (at: number): string => `----- block ${at} ends -----`

/** The service is started in the background, and is waited for until it has told how to go on. */
const inBackground = (commands: string): string =>
  commands.replace(
    /^((?:.*\\\n)?.*(?:npm start|vmhost serve))$/m,
    '($1) >service.log 2>&1 & for i in $(seq 300); do grep -q "Then try" service.log && break; sleep 0.2; done',
  )

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const matches = (line: string | undefined, expected: string): boolean =>
  new RegExp(
    `^${expected
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '.*')
      .replace(uuid, uuid.source)}$`,
  ).test(line ?? '')

const withoutInstalling = (commands: string): string => commands.replace(/^npm ci\n/m, '')

const run = (folder: string): string => {
  const script = [
    'set -um',
    ...blocks.map(({ commands }, at) => `${inBackground(withoutInstalling(commands))}\necho "${marker(at)}"`),
    // The shell of the background job, npm and the service are one process group each time only under job control.
    'for job in $(jobs -p); do kill -TERM -- -$job; done',
  ].join('\n')
  writeFileSync(join(folder, 'readme.sh'), script)
  const { stdout, stderr } = spawnSync('bash', ['readme.sh'], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: join(folder, 'state'), TMPDIR: folder },
    encoding: 'utf8',
    timeout: 300_000,
  })
  return stdout + (stderr && `\n${stderr}`)
}

/** Of Linux alone, where this is run. */
const processesIn = (root: string): number[] =>
  readdirSync('/proc').flatMap(name => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(root) ? [Number(name)] : []
    } catch {
      return []
    }
  })

// npm's format.
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object }
const undeclared = [...forDevelopers.matchAll(/^npm (?:run )?([\w:]+)/gm)]
  .map(match => match[1]!)
  .filter(name => !(name in scripts))

const folder = mkdtempSync(join(tmpdir(), 'vmhost-readme-'))
try {
  spawnSync('git', ['clone', '-q', '.', join(folder, 'clone')], { stdio: 'inherit' })
  // Where that is another file system, the files are copied.
  const modules = join(folder, 'clone', 'node_modules')
  if (spawnSync('cp', ['-al', 'node_modules', modules]).status !== 0) {
    rmSync(modules, { recursive: true, force: true })
    spawnSync('cp', ['-a', 'node_modules', modules], { stdio: 'inherit' })
  }
  const output = run(join(folder, 'clone'))
  const parts = output.split(/^----- block \d+ ends -----$/m).map(part =>
    part
      .trim()
      .split('\n')
      .map(line => line.trimEnd()),
  )
  const wrong = blocks.flatMap(({ commands, expected }, at) =>
    expected && !expected.every((line, row) => matches(parts[at]?.at(row - expected.length), line))
      ? [`${commands}\nshould print\n${expected.join('\n')}\nand printed\n${parts[at]?.join('\n')}`]
      : [],
  )
  for (const one of wrong) console.error(one)
  for (const name of undeclared) console.error(`npm run ${name} is not a script`)
  if (parts.length <= blocks.length) console.error(`the commands did not run to their end:\n${output}`)
  if (wrong.length + undeclared.length > 0 || parts.length <= blocks.length) process.exitCode = 1
  else console.log(`README: ${blocks.length} blocks of commands ran and printed what it says`)
} finally {
  // Machines outlive the service, and so those of a README that went wrong.
  for (const pid of processesIn(folder)) process.kill(pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
