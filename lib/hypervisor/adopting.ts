import { chmod, lstat, mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { removeTree } from '#lib/platform/files.ts'
import { bounds, Definition } from './definition.ts'
import { randomMac } from './mac.ts'
import { definitionFile, filesOf, flattened } from './machine-files.ts'

const { shape } = Definition

/** What a definition from elsewhere must keep to: as much as the service lets people ask for. */
const Packed = Definition.extend({
  description: z.string().max(bounds.description).default(''),
  cpus: shape.cpus.max(bounds.cpus),
  memory: shape.memory.max(bounds.memory),
  disks: shape.disks.max(bounds.disks),
  // Each takes a place on the machine's bus, which has room for these beside the disks.
  networks: z
    .array(z.object({ mac: z.string() }))
    .max(8)
    .default([]),
  cmdline: z
    .string()
    .max(bounds.cmdline)
    .regex(/^[^\0]*$/, 'must not contain NUL')
    .optional(),
})

/** No definition that this service writes is longer, in bytes. */
const longestDefinition = 64 * 1024

const refused = (why: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid', `No machine can be made of this pack: ${why}`, { cause })

/** Refuses what is not a plain file directly in `folder` under one name; gives what tells it from other files. */
const plainFile = async (folder: string, name: string): Promise<{ readonly key: string; readonly size: bigint }> => {
  if (!/^[^/\\\0]+$/.test(name) || name === '.' || name === '..')
    throw refused(`${JSON.stringify(name)} is not the name of a file directly in it.`)
  const found = await lstat(join(folder, name), { bigint: true }).catch(() => {
    throw refused(`${name} is missing.`)
  })
  if (!found.isFile()) throw refused(`${name} is not a plain file.`)
  if (found.nlink !== 1n) throw refused(`${name} has other names, so it could be changed from outside.`)
  return { key: `${found.dev}:${found.ino}`, size: found.size }
}

const readDefinition = async (folder: string): Promise<Definition> => {
  const file = join(folder, definitionFile)
  await chmod(file, 0o600)
  const text = await readFile(file, 'utf8')
  try {
    return Packed.parse(JSON.parse(text))
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined
    const why = issue ? [issue.path.join('.'), issue.message].filter(Boolean).join(': ') : messageOf(error)
    throw refused(`${definitionFile} cannot be read: ${why}.`, error)
  }
}

interface Options {
  readonly id: string
  readonly name: string
  /** Puts the files of the pack into a folder. */
  readonly fill: (folder: string) => Promise<void>
  /**
   * The driver's own rules, for files that are plain ones in `folder`: gives the definition with the sizes that the disks
   * really have. Throws `invalid` and `unsupported`.
   */
  readonly judge: (definition: Definition, folder: string) => Promise<Definition>
}

/**
 * Makes the new machine's `folder` of what a pack holds, trusting nothing of it. What the definition names is moved there
 * under names of the service's own, so that nothing of the pack can pass for a file of the service's; the rest is deleted.
 */
export const adoptFiles = async (folder: string, { id, name, fill, judge }: Options): Promise<Definition> => {
  const pack = join(folder, 'pack')
  await mkdir(pack, { mode: 0o700 })
  await fill(pack)

  const { key, size } = await plainFile(pack, definitionFile)
  if (size > longestDefinition) throw refused(`${definitionFile} has ${size} bytes; it is no definition of a machine.`)
  const packed = await readDefinition(pack)
  const keys = new Set([key])
  const files = filesOf(packed)
  for (const { path } of files) {
    const file = await plainFile(pack, path)
    if (keys.has(file.key)) throw refused(`${path} is named twice in ${definitionFile}.`)
    keys.add(file.key)
  }
  for (const file of files) {
    await chmod(join(pack, file.path), 0o600)
    await rename(join(pack, file.path), join(folder, file.name))
  }
  await removeTree(folder, pack)

  const networks = packed.networks.map(() => ({ mac: randomMac() }))
  const definition = { ...flattened(packed), id, name, networks, created_at: new Date().toISOString() }
  try {
    return await judge(definition, folder)
  } catch (error) {
    if (!isFault(error, 'invalid') && !isFault(error, 'unsupported')) throw error
    throw refused(error.message.replaceAll(`${folder}/`, ''), error)
  }
}
