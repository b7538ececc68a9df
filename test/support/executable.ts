import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { executableName } from '#build/executable/build.ts'
import { ownPlatform } from '#build/executable/targets.ts'
import { type Service, startService } from './service.ts'

/** The single executable for this computer. */
export const executable = resolve('dist/binary', executableName(ownPlatform))

/** True if tests of the executable are skipped. With REQUIRE_EXECUTABLE=1 they fail instead if it is not built. */
export const withoutExecutable = !existsSync(executable) && process.env['REQUIRE_EXECUTABLE'] !== '1'

/** What is added to the name of skipped tests. */
export const whySkipped = withoutExecutable ? ': skipped, because npm run binary has not been run' : ''

interface RunOptions {
  /** The present folder of the command. */
  readonly cwd: string
  /** The whole environment. */
  readonly environment?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Program and arguments before those of the command. */
  readonly command?: readonly string[]
}

/** Runs a command of the executable to its end: in a folder of its own, with no environment unless one is given. */
export const runExecutable = async (
  args: readonly string[],
  { cwd, environment = {}, stdin = '', command: [program = '', ...before] = [executable] }: RunOptions,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> => {
  const child = spawn(program, [...before, ...args], { cwd, env: { ...environment } })
  child.stdin.end(stdin)
  const closed = new Promise<number | null>(settle => child.once('close', settle))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await closed, stdout, stderr }
}

interface ServeOptions {
  readonly args?: readonly string[]
  readonly driver?: 'qemu' | 'embedded'
  readonly listen?: 'http' | 'https'
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
}

/** Serves with the executable, in its state folder, with no environment unless one is given. */
export const serveExecutable = (
  state: string,
  { args = [], driver = 'embedded', listen = 'http', environment = {}, command = [executable] }: ServeOptions = {},
): Promise<Service> =>
  startService({
    state,
    command,
    environment,
    cwd: state,
    args: ['--state', state, '--driver', driver, '--listen', `${listen}://127.0.0.1:0`, ...args],
  })

/** The password of root that the first start of a service has printed. */
export const readPrintedPassword = ({ printed }: Service): string => {
  const [, password] = /^The password of root is (\S+)$/m.exec(printed) ?? []
  if (password === undefined) throw new Error(`no password in ${printed}`)
  return password
}
