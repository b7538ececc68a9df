import { posix } from 'node:path'

/** The bits of a file mode that say what an entry is. */
const types = { folder: 0o040000, file: 0o100000, link: 0o120000, device: 0o020000 } as const

interface Entry {
  readonly type: keyof typeof types
  readonly permissions: number
  readonly data?: Uint8Array
  /** Major and minor number of a device. */
  readonly device?: readonly [number, number]
}

const align = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])

/**
 * Writes a cpio archive in the format `newc`, which Linux unpacks as its first root folder (kernel documentation: Initramfs
 * buffer format). Folders come before what is in them.
 */
export const createNewcWriter = () => {
  const parts: Buffer[] = []
  const folders = new Set(['.'])
  const write = (name: string, { type, permissions, data = Buffer.alloc(0), device = [0, 0] }: Entry): void => {
    const nameBytes = Buffer.from(`${name}\0`)
    const numbers = [
      ...[parts.length + 1, types[type] | permissions, 0, 0, 1, 0],
      ...[data.length, 0, 0, ...device, nameBytes.length, 0],
    ]
    const header = `070701${numbers.map(number => number.toString(16).padStart(8, '0')).join('')}`
    parts.push(align(Buffer.concat([Buffer.from(header), nameBytes])), align(Buffer.from(data)))
  }
  const addFolder = (name: string): void => {
    if (folders.has(name)) return
    folders.add(name)
    addFolder(posix.dirname(name))
    write(name, { type: 'folder', permissions: 0o755 })
  }
  const add = (name: string, entry: Entry): void => {
    addFolder(posix.dirname(name))
    write(name, entry)
  }
  return {
    addFolder,
    addFile: (name: string, data: Uint8Array | string, permissions = 0o644): void =>
      add(name, { type: 'file', permissions, data: Buffer.from(data) }),
    addLink: (name: string, target: string): void =>
      add(name, { type: 'link', permissions: 0o777, data: Buffer.from(target) }),
    addDevice: (name: string, device: readonly [number, number]): void =>
      add(name, { type: 'device', permissions: 0o600, device }),
    finish(): Buffer {
      write('TRAILER!!!', { type: 'file', permissions: 0 })
      return Buffer.concat(parts)
    },
  }
}

export type NewcWriter = ReturnType<typeof createNewcWriter>
