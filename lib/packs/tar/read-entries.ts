import { InvalidPackError, quoteName } from '../pack-errors.ts'
import type { ByteReader } from './byte-reader.ts'
import { blockSize, getPaddingSize, maxOctal } from './header.ts'
import { decodeUtf8, readHeader } from './read-header.ts'
import type { TarHeader } from './read-header.ts'
import { readPax } from './read-pax.ts'
import type { PaxOverrides } from './read-pax.ts'

export interface TarEntry {
  readonly kind: 'file' | 'folder'
  /** The name without leading and closing slashes, otherwise unchecked. `''` is the root itself. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly mode: number
  /** Undefined when the pack has no time, or none that makes sense. */
  readonly modifiedAt: Date | undefined
  /**
   * Reads the content. The caller must read it to its end before it takes the next entry. Throws `invalid` when it is cut
   * off.
   */
  content(): AsyncGenerator<Uint8Array>
}

/** Maximum number of bytes of a PAX header or a long name. */
const maxExtensionSize = 1024 * 1024
/** Maximum number of bytes after the end mark. Programs fill up the last record of a tape. */
const maxTailSize = 4 * 1024 * 1024

const refusedTypes: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  K: 'a link',
  S: 'a sparse file in the form of GNU tar; pack without --sparse, holes come back by themselves',
}

/** Removes what precedes a relative name: GNU tar calls the root `./`, other services begin with a slash. */
const toRelativeName = (name: string): string => name.replace(/^(\.?\/)+|^\.$/, '')

const isZeros = (bytes: Uint8Array): boolean => bytes.every(byte => byte === 0)

/**
 * Reads the entries of a tar in order. With `mayLackEnd` a tar that ends after the last byte of a file is complete, because
 * some services write no end mark. Throws `invalid` for a tar that is damaged or cut off, and for entries that are neither
 * files nor folders.
 */
export async function* readEntries(
  bytes: ByteReader,
  { mayLackEnd }: { readonly mayLackEnd: boolean },
): AsyncGenerator<TarEntry> {
  let overrides: PaxOverrides = {}
  let extensions = 0

  const readExtension = async ({ size, type }: TarHeader): Promise<void> => {
    if (size > maxExtensionSize || ++extensions > 4) throw new InvalidPackError('it has headers without end')
    const content = await bytes.read(size)
    if (content.length < size || (await bytes.read(getPaddingSize(size))).length < getPaddingSize(size))
      throw new InvalidPackError('it is cut off in a header')
    if (type === 'x') overrides = { ...overrides, ...readPax(content) }
    else if (type === 'L')
      overrides = { ...overrides, name: decodeUtf8(content.subarray(0, content.at(-1) === 0 ? -1 : undefined)) }
    else if (Object.keys(readPax(content)).length > 0)
      throw new InvalidPackError('it has one name, size or time for all files')
  }

  const checkTail = async (): Promise<void> => {
    let size = 0
    for await (const part of bytes.stream(Infinity)) {
      size += part.length
      if (!isZeros(part) || size > maxTailSize) throw new InvalidPackError('something stands behind its end')
    }
  }

  for (let isFirst = true; ; isFirst = false) {
    const block = await bytes.read(blockSize)
    if (block.length === 0 && isFirst) throw new InvalidPackError('it is empty')
    if (block.length === 0 && extensions === 0 && mayLackEnd) return
    if (block.length < blockSize) throw new InvalidPackError('it is cut off')
    if (isZeros(block)) {
      if (extensions > 0) throw new InvalidPackError('its last header belongs to nothing')
      return checkTail()
    }
    const header = readHeader(block)
    if (header.type === 'x' || header.type === 'g' || header.type === 'L') {
      await readExtension(header)
      continue
    }
    const { name, size, seconds } = { ...header, ...overrides }
    overrides = {}
    extensions = 0
    if (header.type !== '0' && header.type !== '5')
      throw new InvalidPackError(`${quoteName(name)} is ${refusedTypes[header.type] ?? 'of an unknown kind'}`)
    const isFolder = header.type === '5'
    if (isFolder && size > 0) throw new InvalidPackError(`${quoteName(name)} is a folder with content`)

    const content = async function* (): AsyncGenerator<Uint8Array> {
      let remaining = size
      for await (const part of bytes.stream(size)) {
        remaining -= part.length
        yield part
      }
      if (remaining > 0) throw new InvalidPackError(`it is cut off in ${quoteName(name)}`)
    }
    yield {
      kind: isFolder ? 'folder' : 'file',
      name: isFolder ? toRelativeName(name).replace(/\/$/, '') : toRelativeName(name),
      size,
      mode: header.mode,
      modifiedAt: seconds === 0 || seconds > maxOctal ? undefined : new Date(seconds * 1000),
      content,
    }
    // A tar without its end mark can lack the whole last padding, but not a part of it.
    const padding = (await bytes.read(getPaddingSize(size))).length
    if (padding !== 0 && padding !== getPaddingSize(size))
      throw new InvalidPackError(`it is cut off behind ${quoteName(name)}`)
  }
}
