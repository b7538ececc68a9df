import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import { newState, rootPassword, startService } from '../support/service.ts'

const start = promisify(execFile)

/** A running service with its document in a file, and a folder for tools that read it. */
export interface DescribedService extends AsyncDisposable {
  readonly url: string
  /** The document as the service sends it. */
  readonly document: string
  /** A new token of root, or of a user who holds what every user does and who is made for that. */
  signIn(as: 'root' | 'user'): Promise<string>
  /** What programs that call the service are given: its address, the password of root, and a kernel for machines. */
  readonly env: Readonly<Record<string, string>>
  /** A folder of its own for each tool. */
  folder(name: string): string
}

export const startDescribedService = async (): Promise<DescribedService> => {
  const state = newState()
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-openapi-'))
  const service = await startService({
    state: state.path,
    env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off' },
  })
  const kernel = join(state.path, 'attach/kernel.bin')
  mkdirSync(dirname(kernel), { recursive: true })
  writeFileSync(kernel, demoGuest)
  const document = join(folder, 'openapi.json')
  writeFileSync(document, await (await fetch(`${service.url}/api/openapi.json`)).text())
  return {
    url: service.url,
    document,
    async signIn(as) {
      const token = await service.signIn()
      if (as === 'root') return token
      const body = { username: 'plain', name: 'A user', email: 'plain@example.test', password: rootPassword }
      // The second time it is there.
      await service.call('POST', '/api/v1/auth/users', { token, body })
      return (await service.call('POST', '/api/v1/auth/token', { body })).body.token
    },
    env: { URL: service.url, PASSWORD: rootPassword, KERNEL: kernel },
    folder(name) {
      const path = join(folder, name)
      mkdirSync(path)
      return path
    },
    async [Symbol.asyncDispose]() {
      await service.stop()
      state[Symbol.dispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Runs a program in a folder with the programs that were installed there; gives all that it printed, also when it fails. */
export const run = async (
  folder: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> => {
  const installed = [join(folder, 'node_modules/.bin'), join(folder, 'python/bin'), dirname(process.execPath)]
  const options = {
    cwd: folder,
    env: { ...process.env, PATH: [...installed, process.env['PATH']].join(delimiter), ...env },
    maxBuffer: 2 ** 26,
  }
  try {
    const { stdout, stderr } = await start(program, args, options)
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string }
    return { code: typeof code === 'number' ? code : -1, output: stdout + stderr || String(error) }
  }
}

const must = async (result: ReturnType<typeof run>): Promise<void> => {
  const { code, output } = await result
  if (code !== 0) throw new Error(output)
}

/** Installs packages of npm, with their versions, into a folder. */
export const installFromNpm = async (folder: string, packages: readonly string[]): Promise<void> => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await must(run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages]))
}

/** The same from PyPI, into an environment of the folder's own. */
export const installFromPyPi = async (folder: string, packages: readonly string[]): Promise<void> => {
  await must(run(folder, 'python3', ['-m', 'venv', 'python']))
  await must(run(folder, 'pip', ['install', '--quiet', '--disable-pip-version-check', ...packages]))
}
