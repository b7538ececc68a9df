import { mkdir, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import {
  isSystemError,
  makePrivateFolder,
  removeTree,
  syncFile,
  syncFolder,
  writeFileAtomic,
} from '#lib/platform/files.ts'
import { Definition } from './definition.ts'
import type { MachineView } from './driver.ts'

/** What was found at start: a machine, or a folder whose definition cannot be read. */
export interface Found {
  readonly id: string
  readonly home: string
  readonly definition?: Definition
  readonly problem?: string
}

export interface MachineFolders {
  home(id: string): string
  /** Every machine on disk. Removes first what unfinished creations and deletions left. */
  open(): Promise<readonly Found[]>
  /**
   * Fills a new machine's folder with files out of sight, makes them durable, then shows it with one rename: a machine
   * exists wholly or not at all. `fill` gives the definition, which is given back.
   */
  create(id: string, fill: (folder: string) => Promise<Definition>): Promise<Definition>
  write(definition: Definition): Promise<void>
  /** Keeps `value` as JSON in the file `name` of the machine's folder; `undefined` deletes it. */
  note(id: string, name: string, value: unknown): Promise<void>
  /** What `note` kept, or undefined. Not validated. Unreadable JSON counts as absent. */
  noted(id: string, name: string): Promise<unknown>
  remove(id: string): Promise<void>
}

const hidden = (name: string): boolean => name.startsWith('.')

/** Machines as folders below `root`: `<id>/machine.json` and whatever a driver puts beside it. */
export const createMachineFolders = (root: string): MachineFolders => {
  const home = (id: string): string => join(root, id)
  const definitionFile = (folder: string): string => join(folder, 'machine.json')

  const read = async (id: string): Promise<Found> => {
    try {
      const definition = Definition.parse(JSON.parse(await readFile(definitionFile(home(id)), 'utf8')))
      if (definition.id !== id) throw new Error(`machine.json names another machine, ${definition.id}`)
      return { id, home: home(id), definition }
    } catch (error) {
      return { id, home: home(id), problem: `its definition cannot be read: ${messageOf(error)}` }
    }
  }

  return {
    home,
    async open() {
      await makePrivateFolder(root)
      const names = await readdir(root)
      for (const name of names.filter(hidden)) await removeTree(root, join(root, name))
      return Promise.all(names.filter(name => !hidden(name)).map(read))
    },
    async create(id, fill) {
      const staging = join(root, `.new-${id}`)
      await mkdir(staging, { mode: 0o700 })
      try {
        const definition = await fill(staging)
        for (const name of await readdir(staging)) await syncFile(join(staging, name))
        await writeFileAtomic(definitionFile(staging), JSON.stringify(definition, undefined, 2))
        await rename(staging, home(id))
        await syncFolder(root)
        return definition
      } catch (error) {
        await removeTree(root, staging)
        throw error
      }
    },
    write: definition => writeFileAtomic(definitionFile(home(definition.id)), JSON.stringify(definition, undefined, 2)),
    async note(id, name, value) {
      const file = join(home(id), name)
      if (value === undefined) await rm(file, { force: true })
      else await writeFileAtomic(file, JSON.stringify(value))
    },
    async noted(id, name) {
      try {
        return JSON.parse(await readFile(join(home(id), name), 'utf8'))
      } catch (error) {
        if (error instanceof SyntaxError || isSystemError(error, 'ENOENT')) return undefined
        throw error
      }
    },
    async remove(id) {
      const trash = join(root, `.trash-${id}`)
      await rename(home(id), trash)
      await syncFolder(root)
      await removeTree(root, trash)
    },
  }
}

/** What is shown of a folder whose definition cannot be read: enough to find it and to delete it. */
export const invalidView = ({ id, home, problem = 'its definition cannot be read' }: Found): MachineView => ({
  id,
  name: id,
  state: 'invalid',
  problem,
  definition: {
    id,
    name: id,
    description: problem,
    cpus: 1,
    memory: 1,
    disks: [],
    networks: [],
    created_at: new Date(0).toISOString(),
  },
  home,
  addresses: [],
  since: Date.now(),
  ranFor: 0,
})
