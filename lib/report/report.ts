import { arch, platform, release, totalmem, availableParallelism } from 'node:os'
import { gzipSync } from 'node:zlib'
import { diagnose } from '#lib/doctor/doctor.ts'
import type { Surroundings } from '#lib/doctor/surroundings.ts'
import { messageOf } from '#lib/errors.ts'
import { blockSize, encodeFileHeader, getPaddingSize } from '#lib/packs/tar/header.ts'
import { readLogLines } from './log-lines.ts'
import { scrub } from './scrub.ts'
import { formatSettings, listSecrets } from './settings.ts'
import { measureStateFolder } from './stored.ts'

interface Options {
  readonly version: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly surroundings: Surroundings
  readonly logFile: string | undefined
}

const format = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

const describeVersions = (version: string): object => ({
  vmhost: version,
  node: process.versions.node,
  libraries: process.versions,
  system: `${platform()} ${release()} ${arch()}`,
  processors: availableParallelism(),
  memory_bytes: totalmem(),
})

/** The metrics of the running service: they count machines, jobs, events, replies and failures. */
const readMetrics = async ({ service }: Surroundings): Promise<string> =>
  service.kind === 'running' ? service.get('/metrics') : `The service is ${service.kind}.\n`

/** The files of a report by name. One that cannot be made has the reason instead. */
const collectFiles = async (options: Options): Promise<readonly (readonly [name: string, text: string])[]> => {
  const { version, settings, surroundings, logFile } = options
  const secrets = listSecrets(settings)
  const parts: Readonly<Record<string, () => Promise<string>>> = {
    'versions.json': async () => format(describeVersions(version)),
    'doctor.json': async () => format(await diagnose(surroundings)),
    'settings.json': async () => formatSettings(settings),
    'metrics.txt': () => readMetrics(surroundings),
    'state-folder.json': async () => format(await measureStateFolder(surroundings.settings.state)),
    'log.txt': () => readLogLines(logFile),
  }
  return Promise.all(
    Object.entries(parts).map(async ([name, make]) => {
      const text = await make().catch((error: unknown) => `This could not be read: ${messageOf(error)}\n`)
      return [name, scrub(text, secrets)] as const
    }),
  )
}

/** A report as bytes, and the names of its files. */
export interface Report {
  readonly archive: Uint8Array
  readonly names: readonly string[]
}

/** Makes the report on a service: a tar archive, compressed with gzip, in a folder `vmhost-report`. It contains no secrets. */
export const createReport = async (options: Options): Promise<Report> => {
  const modifiedAt = new Date()
  const files = await collectFiles(options)
  const blocks = files.flatMap(([name, text]) => {
    const bytes = Buffer.from(text)
    const header = encodeFileHeader({ name: `vmhost-report/${name}`, size: bytes.length, mode: 0o644, modifiedAt })
    return [header, bytes, Buffer.alloc(getPaddingSize(bytes.length))]
  })
  return {
    archive: gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)])),
    names: files.map(([name]) => name),
  }
}
