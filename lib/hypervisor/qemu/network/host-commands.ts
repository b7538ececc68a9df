import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { getLastLine, runProcess } from '#lib/platform/processes.ts'
import { findProgram } from '../programs.ts'

/** The number of CAP_NET_ADMIN (capabilities(7)). */
const netAdmin = 12n

/** Milliseconds that a command has. */
const timeout = 10_000

/** Whether this process and the programs that it starts may change the network of the host. */
export const canAdministerNetwork = async (): Promise<boolean> => {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const has = (set: string): boolean =>
    ((BigInt(`0x${new RegExp(`^${set}:\\s+([0-9a-f]+)`, 'm').exec(status)?.[1] ?? '0'}`) >> netAdmin) & 1n) === 1n
  // Programs that another user than root starts have the ambient capabilities alone.
  return has('CapEff') && (process.getuid?.() === 0 || has('CapAmb'))
}

/** The error for a mode that needs CAP_NET_ADMIN. */
export const createNetAdminError = (mode: string): ServiceError =>
  new ServiceError(
    'unsupported',
    `${mode} is unsupported here, because the service lacks the capability CAP_NET_ADMIN. Run it as root or with AmbientCapabilities=CAP_NET_ADMIN, or use isolated or nat.`,
  )

/** Returns the path of a program. Throws `unsupported` with the name of its package if it is not installed. */
export const requireProgram = async (program: string, packageName: string): Promise<string> => {
  const path = await findProgram(program)
  if (path !== undefined) return path
  throw new ServiceError(
    'unsupported',
    `This network is unsupported here, because ${program} is not installed. Install it with: apt-get install ${packageName}`,
  )
}

/** Runs a program and returns its output. Throws `unavailable` with its last line if it fails. */
const runTool = async (program: string, packageName: string, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await runProcess(await requireProgram(program, packageName), args, { timeout })
  if (code === 0) return stdout
  throw new ServiceError('unavailable', `${program} ${args.join(' ')} failed: ${getLastLine(stderr)}`)
}

/** Runs `ip` of the package iproute2. Throws as `runTool` does. */
export const runIp = (...args: readonly string[]): Promise<string> => runTool('ip', 'iproute2', args)

/** Runs `tc` of the package iproute2. Throws as `runTool` does. */
export const runTc = (...args: readonly string[]): Promise<string> => runTool('tc', 'iproute2', args)

/** Has `nft` carry out a script as a whole or not at all. Throws as `runTool` does. */
export const runNft = async (script: string): Promise<void> => void (await runTool('nft', 'nftables', [script]))

const Interfaces = z.array(
  z.object({
    ifname: z.string(),
    ifalias: z.string().optional(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  }),
)

/** An interface of the host. `kind` is empty for hardware. */
export interface Interface {
  readonly name: string
  readonly alias: string
  readonly kind: string
}

/** Lists the interfaces of the host. */
export const listInterfaces = async (): Promise<readonly Interface[]> =>
  Interfaces.parse(JSON.parse(await runIp('-details', '-json', 'link', 'show'))).map(
    ({ ifname, ifalias = '', linkinfo }) => ({ name: ifname, alias: ifalias, kind: linkinfo?.info_kind ?? '' }),
  )
