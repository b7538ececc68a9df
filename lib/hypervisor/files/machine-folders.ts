import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { messageOf } from '#lib/errors.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import {
  isSystemError,
  makePrivateFolder,
  removeTree,
  removeUnfinished,
  syncFile,
  syncFolder,
  writeFileAtomic,
} from '#lib/platform/files.ts'
import { readStateFile } from '#lib/platform/open-file.ts'
import { Definition } from '../definition.ts'
import { explainFileError } from './file-faults.ts'
import { definitionFile } from './machine-files.ts'

/** A folder found at start that has a valid definition. */
export interface ValidMachine {
  readonly id: string
  readonly home: string
  readonly definition: Definition
}

/** A folder found at start whose definition cannot be read. */
export interface InvalidMachine {
  readonly id: string
  readonly home: string
  readonly definition?: undefined
  /** The name of the machine, if it can be read. */
  readonly name?: string
  readonly problem: string
}

export interface MachineFolders {
  home(id: string): string
  /** Deletes the remains of unfinished creations and deletions, then returns every machine on disk. */
  open(): Promise<readonly (ValidMachine | InvalidMachine)[]>
  /**
   * Creates a machine's folder atomically: populates a hidden folder, syncs its files, then renames it. Returns the definition
   * that `populate` returns. Throws what `populate` throws, and `no-space`.
   */
  create(id: string, populate: (folder: string) => Promise<Definition>): Promise<Definition>
  /** Writes the definition of a machine. Throws `no-space`, and `conflict` if the machine's folder is gone. */
  writeDefinition(definition: Definition): Promise<void>
  /**
   * Writes `value` as JSON to the file `name` in the machine's folder; `undefined` deletes the file. Throws as
   * `writeDefinition`.
   */
  writeJson(id: string, name: string, value: unknown): Promise<void>
  /** Reads what `writeJson` wrote, without validation. Returns undefined for a missing file and for invalid JSON. */
  readJson(id: string, name: string): Promise<unknown>
  remove(id: string): Promise<void>
}

const isHidden = (name: string): boolean => name.startsWith('.')

/** What tells the user which machine an invalid definition belongs to. */
const Identity = z.object({ id: z.string(), name: z.string().min(1) })

/** Machines whose definitions are read at the same time. */
const batchSize = 16

/** Machines as folders below `root`: `<id>/machine.json` and whatever a driver puts beside it. */
export const createMachineFolders = (root: string): MachineFolders => {
  const home = (id: string): string => join(root, id)
  const getDefinitionPath = (folder: string): string => join(folder, definitionFile)
  /** Runs `work` and translates errors of the file system into ServiceErrors. */
  const explainErrorsIn = async <T>(folder: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw await explainFileError(error, folder)
    }
  }

  const readMachine = async (id: string): Promise<ValidMachine | InvalidMachine> => {
    let name: string | undefined
    try {
      const text = await readStateFile(getDefinitionPath(home(id)))
      if (text === undefined) throw new Error(`${definitionFile} is missing`)
      const json: unknown = JSON.parse(text)
      const identity = Identity.safeParse(json).data
      if (identity?.id === id) name = identity.name
      const { success, data, error } = Definition.safeParse(json)
      if (!success) throw new Error(describeFirstMistake(error))
      if (data.id !== id) throw new Error(`${definitionFile} names another machine, ${data.id}`)
      return { id, home: home(id), definition: data }
    } catch (error) {
      const problem = `its definition cannot be read: ${messageOf(error)}`
      return { id, home: home(id), problem, ...(name !== undefined && { name }) }
    }
  }

  return {
    home,
    async open() {
      await makePrivateFolder(root)
      const names = await readdir(root)
      for (const name of names.filter(isHidden)) await removeTree(root, join(root, name))
      const ids = names.filter(name => !isHidden(name))
      // A folder that cannot be cleaned up must not hide its machine.
      for (const id of ids) await removeUnfinished(home(id)).catch(() => {})
      const found: (ValidMachine | InvalidMachine)[] = []
      // In batches: a thousand files that are open at once would leave the heap 25 MB larger.
      for (let at = 0; at < ids.length; at += batchSize)
        found.push(...(await Promise.all(ids.slice(at, at + batchSize).map(readMachine))))
      return found
    },
    async create(id, populate) {
      const staging = join(root, `.new-${id}`)
      await explainErrorsIn(root, () => mkdir(staging, { mode: 0o700 }))
      try {
        const definition = await populate(staging)
        for (const name of await readdir(staging)) await syncFile(join(staging, name))
        await writeFileAtomic(getDefinitionPath(staging), JSON.stringify(definition, undefined, 2))
        await rename(staging, home(id))
        await syncFolder(root)
        return definition
      } catch (error) {
        await removeTree(root, staging)
        throw await explainFileError(error, root)
      }
    },
    writeDefinition(definition) {
      const folder = home(definition.id)
      const text = JSON.stringify(definition, undefined, 2)
      return explainErrorsIn(folder, () => writeFileAtomic(getDefinitionPath(folder), text))
    },
    writeJson(id, name, value) {
      const file = join(home(id), name)
      return explainErrorsIn(home(id), () =>
        value === undefined ? rm(file, { force: true }) : writeFileAtomic(file, JSON.stringify(value)),
      )
    },
    async readJson(id, name) {
      const text = await readStateFile(join(home(id), name))
      try {
        return text === undefined ? undefined : JSON.parse(text)
      } catch {
        return undefined
      }
    },
    async remove(id) {
      const trash = join(root, `.trash-${id}`)
      try {
        await rename(home(id), trash)
      } catch (error) {
        // The folder was removed or moved by someone else: nothing is left to delete.
        if (isSystemError(error, 'ENOENT')) return
        throw await explainFileError(error, home(id))
      }
      await syncFolder(root)
      await removeTree(root, trash)
    },
  }
}
