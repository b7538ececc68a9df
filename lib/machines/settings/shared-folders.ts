import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
import { SharedFolder } from '#lib/hypervisor/machine-parts.ts'
import { AbsolutePath } from '../schemas.ts'
import { assertCount, findPart, replacePart, withoutPart } from './parts.ts'
import { type Change, parseValue, readOptions, type SetOperation, type Settings } from './setting.ts'

const { shape } = SharedFolder

const describe =
  (name: string): Change['read'] =>
  ({ shared_folders = [] }) => {
    const folder = shared_folders.find(one => one.name === name)
    return folder ? `${folder.path}, ${folder.mode}${folder.enabled ? '' : ', disabled'}` : 'none'
  }

/** Reads the options of a shared folder. Clients of other services write `shf-description` and `enable`. */
const readFolder = (operation: SetOperation, isNew: boolean) => {
  const {
    flags,
    'shf-description': description,
    path,
    mode,
  } = readOptions(
    operation,
    {
      path: isNew ? AbsolutePath : AbsolutePath.optional(),
      mode: z.enum(['ro', 'rw']).optional(),
      'shf-description': z.string().max(256).optional(),
    },
    ['enable', 'disable'],
  )
  return {
    ...(path !== undefined && { path }),
    ...(mode && { mode }),
    ...(description !== undefined && { description }),
    ...(flags.has('enable') && { enabled: true }),
    ...(flags.has('disable') && { enabled: false }),
  }
}

/** The operations on folders of the host that the guest can mount. The name of the folder is the value. */
export const sharedFolderSettings: Settings = {
  add(operation, { shared_folders: folders = [] }) {
    assertCount('shared folders', folders, bounds.sharedFolders)
    const name = parseValue('shared-folder add', shape.name, operation.value)
    if (folders.some(folder => folder.name === name))
      throw new ServiceError('invalid', `The machine has a shared folder ${name}; change it with set.`)
    const folder = SharedFolder.parse({ name, ...readFolder(operation, true) })
    return {
      field: name,
      apply: definition => ({ ...definition, shared_folders: [...(definition.shared_folders ?? []), folder] }),
      read: describe(name),
    }
  },
  set(operation, { shared_folders: folders = [] }) {
    const changed = { ...findPart(folders, operation.value), ...readFolder(operation, false) }
    return {
      field: changed.name,
      apply: definition => ({
        ...definition,
        shared_folders: replacePart(definition.shared_folders ?? [], changed),
      }),
      read: describe(changed.name),
    }
  },
  delete(operation, { shared_folders: folders = [] }) {
    const { name } = findPart(folders, operation.value)
    readOptions(operation, {})
    return {
      field: name,
      apply: definition => ({ ...definition, shared_folders: withoutPart(definition.shared_folders ?? [], name) }),
      read: describe(name),
    }
  },
}
