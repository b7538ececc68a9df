/**
 * Runs the commands of documents as a newcomer would: clones the last commit, runs every block of commands in order in one shell, and
 * compares what is printed with what the documents say. In an expected line `…` stands for anything, and an id for any id. In place of
 * `npm ci` the dependencies are linked from here, where they come from the same lock file.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

interface Block {
  readonly commands: string
  readonly expected: readonly string[] | undefined
}

interface WalkOptions {
  /** Variables of the commands, beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Milliseconds for all commands. */
  readonly timeout: number
}

interface Walked {
  /** The number of blocks. */
  readonly blocks: number
  /** What a document says in another way than it is, for people; empty if all is well. */
  readonly mistakes: readonly string[]
}

const readBlocks = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(match => ({
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

/** Clones the last commit into `folder`, with the dependencies that are installed here. */
const cloneInto = (folder: string): void => {
  spawnSync('git', ['clone', '-q', '.', folder], { stdio: 'inherit' })
  const modules = join(folder, 'node_modules')
  if (spawnSync('cp', ['-al', 'node_modules', modules]).status === 0) return
  // Where that is another file system, the files are copied.
  rmSync(modules, { recursive: true, force: true })
  spawnSync('cp', ['-a', 'node_modules', modules], { stdio: 'inherit' })
}

/** Of Linux alone, where this is run. */
const findProcessesIn = (root: string): number[] =>
  readdirSync('/proc').flatMap(name => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(root) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** Ends what runs in a folder, machines too, which outlive the service. */
const killProcessesIn = (root: string): void => {
  for (const pid of findProcessesIn(root)) process.kill(pid, 'SIGKILL')
}

const runBlocks = async (blocks: readonly Block[], folder: string, { env, timeout }: WalkOptions): Promise<string> => {
  const script = [
    'set -um',
    ...blocks.map(({ commands }, at) => `${inBackground(withoutInstalling(commands))}\necho "${marker(at)}"`),
    // The shell of the background job, npm and the service are one process group each time only under job control.
    'for job in $(jobs -p); do kill -TERM -- -$job; done',
  ].join('\n')
  writeFileSync(join(folder, 'walk.sh'), script)
  const shell = spawn('bash', ['walk.sh'], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: join(folder, 'state'), TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // The end of the shell alone would not end what it waits for.
  const timer = setTimeout(() => killProcessesIn(folder), timeout)
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')])
  clearTimeout(timer)
  return stdout + (stderr && `\n${stderr}`)
}

const findMistakes = (blocks: readonly Block[], output: string): readonly string[] => {
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
  return parts.length > blocks.length ? wrong : [...wrong, `the commands did not run to their end:\n${output}`]
}

/** Runs the commands of a document in Markdown, or of several one after the other. */
export const walkThrough = async (markdown: string, options: WalkOptions): Promise<Walked> => {
  const blocks = readBlocks(markdown)
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-walk-'))
  try {
    cloneInto(join(folder, 'clone'))
    const output = await runBlocks(blocks, join(folder, 'clone'), options)
    return { blocks: blocks.length, mistakes: findMistakes(blocks, output) }
  } finally {
    killProcessesIn(folder)
    rmSync(folder, { recursive: true, force: true })
  }
}
