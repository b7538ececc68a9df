import { chmod, lstat, mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { removeTree } from '#lib/platform/files.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import { bounds, type Definition, PortableDefinition } from '../definition.ts'
import { Network } from '../machine-parts.ts'
import { generateMac } from '../mac.ts'
import { definitionFile, listMachineFiles, flattenDefinition } from './machine-files.ts'

const { shape } = PortableDefinition

/** The schema of a definition in a pack. Its limits are those of a create request. */
const PackedDefinition = PortableDefinition.extend({
  description: z.string().max(bounds.description).default(''),
  cpus: shape.cpus.max(bounds.cpus),
  memory: shape.memory.max(bounds.memory),
  disks: shape.disks.max(bounds.disks),
  cdroms: shape.cdroms.unwrap().max(bounds.cdroms).optional(),
  // Each card needs a slot on the machine's bus, which has room for eight beside the disks.
  networks: z.array(Network).max(8).default([]),
  cmdline: z
    .string()
    .max(bounds.cmdline)
    .regex(/^[^\0]*$/, 'must not contain NUL')
    .optional(),
})

/** Bytes. This service never writes a longer definition. */
const maxDefinitionSize = 64 * 1024

const createPackError = (why: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid', `No machine can be made of this pack: ${why}`, { cause })

/**
 * Returns identity and size of a plain file directly in `folder`. Throws `invalid` for anything else and for a file with
 * several hard links.
 */
const inspectPlainFile = async (
  folder: string,
  name: string,
): Promise<{ readonly key: string; readonly size: bigint }> => {
  if (!/^[^/\\\0]+$/.test(name) || name === '.' || name === '..')
    throw createPackError(`${JSON.stringify(name)} is not the name of a file directly in it.`)
  const found = await lstat(join(folder, name), { bigint: true }).catch(() => {
    throw createPackError(`${name} is missing.`)
  })
  if (!found.isFile()) throw createPackError(`${name} is not a plain file.`)
  if (found.nlink !== 1n) throw createPackError(`${name} has other names, so it could be changed from outside.`)
  return { key: `${found.dev}:${found.ino}`, size: found.size }
}

const readDefinition = async (folder: string): Promise<Definition> => {
  const file = join(folder, definitionFile)
  await chmod(file, 0o600)
  const text = await readFile(file, 'utf8')
  try {
    return PackedDefinition.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof z.ZodError ? describeFirstMistake(error) : messageOf(error)
    throw createPackError(`${definitionFile} cannot be read: ${why}.`, error)
  }
}

interface Options {
  readonly id: string
  readonly name: string
  /** The id of the user who imports the machine. */
  readonly owner?: string | undefined
  /** Writes the files of the pack into a folder. */
  readonly populate: (folder: string) => Promise<void>
  /**
   * Applies the rules of the driver to the plain files in `folder`. Returns the definition with the real sizes of the disks.
   * Throws `invalid` and `unsupported`.
   */
  readonly validate: (definition: Definition, folder: string) => Promise<Definition>
}

/**
 * Populates the new machine's `folder` from a pack, which is untrusted. The service moves the files that the definition names there
 * and renames them, so that no file of the pack can pass for a file of the service. It deletes all other files. Returns the new
 * definition. Throws `invalid` with the fault of the pack.
 */
export const importMachineFiles = async (
  folder: string,
  { id, name, owner, populate, validate }: Options,
): Promise<Definition> => {
  const pack = join(folder, 'pack')
  await mkdir(pack, { mode: 0o700 })
  await populate(pack)

  const { key, size } = await inspectPlainFile(pack, definitionFile)
  if (size > maxDefinitionSize)
    throw createPackError(`${definitionFile} has ${size} bytes; it is no definition of a machine.`)
  const packed = await readDefinition(pack)
  const keys = new Set([key])
  const files = listMachineFiles(packed)
  for (const { path } of files) {
    const file = await inspectPlainFile(pack, path)
    if (keys.has(file.key)) throw createPackError(`${path} is named twice in ${definitionFile}.`)
    keys.add(file.key)
  }
  for (const file of files) {
    await chmod(join(pack, file.path), 0o600)
    await rename(join(pack, file.path), join(folder, file.name))
  }
  await removeTree(folder, pack)

  // The sender of a pack does not decide what the machine reaches here.
  const networks = packed.networks.map(card => ({ ...card, mac: generateMac(), mode: 'isolated' as const }))
  const definition = {
    ...flattenDefinition(packed),
    id,
    name,
    networks,
    ...(owner !== undefined && { owner }),
    created_at: new Date().toISOString(),
  }
  try {
    return await validate(definition, folder)
  } catch (error) {
    if (!isFault(error, 'invalid') && !isFault(error, 'unsupported')) throw error
    throw createPackError(error.message.replaceAll(`${folder}/`, ''), error)
  }
}
