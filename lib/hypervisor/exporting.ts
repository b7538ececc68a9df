import { copyFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { exists } from '#lib/platform/files.ts'
import { Definition } from './definition.ts'
import type { ExportedMachine } from './driver.ts'
import { definitionFile, filesOf, flattened, type MachineFile, pathIn } from './machine-files.ts'

interface Options {
  /** With the formats that the disks have once they are copied. */
  readonly definition: Definition
  readonly home: string
  readonly staging: string
  readonly deadline: AbortSignal
  /** Puts a complete copy of a file at `to`, where the file cannot be lent as it lies. */
  readonly copy: (file: MachineFile, at: number) => ((to: string) => Promise<void>) | undefined
}

/** Copies a kernel and its like when it is outside the machine's folder. */
export const copyAttached = ({ path }: MachineFile): ((to: string) => Promise<void>) | undefined =>
  isAbsolute(path) ? to => copyFile(path, to) : undefined

/**
 * Lends the files of a machine: those in its folder where they are, and copies of the others. The same machine again gives
 * the same files, also with their times. Throws `conflict` where one is missing.
 */
export const lendFiles = async ({ definition, home, staging, deadline, copy }: Options): Promise<ExportedMachine> => {
  await using made = new AsyncDisposableStack()
  const toStaging = (name: string): string => {
    const path = join(staging, name)
    made.defer(() => rm(path, { force: true }))
    return path
  }
  const files: { name: string; path: string }[] = []
  for (const [at, file] of filesOf(definition).entries()) {
    deadline.throwIfAborted()
    const from = pathIn(home, file.path)
    if (!(await exists(from)))
      throw new ServiceError('conflict', `${from}, a file of ${definition.name}, is missing, so it cannot be exported.`)
    const write = copy(file, at)
    const path = write ? toStaging(file.name) : from
    if (write) {
      const { mtime } = await stat(from)
      await write(path)
      await utimes(path, mtime, mtime)
    }
    files.push({ name: file.name, path })
  }
  const path = toStaging(definitionFile)
  // Parsed, so that its parts have one order, also before the definition has been read from its file.
  await writeFile(path, JSON.stringify(Definition.parse(flattened(definition)), undefined, 2), { mode: 0o600 })
  const madeAt = new Date(definition.created_at)
  await utimes(path, madeAt, madeAt)
  const kept = made.move()
  return { files: [{ name: definitionFile, path }, ...files], [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
