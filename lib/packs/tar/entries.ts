import { broken, quoted } from '../damaged.ts'
import type { ByteReader } from './byte-reader.ts'
import { blockSize, largestOctal, getPaddingSize } from './header.ts'
import { readHeader, textOf } from './read-header.ts'
import type { Header } from './read-header.ts'
import { readPax } from './read-pax.ts'
import type { Overrides } from './read-pax.ts'

export interface Entry {
  readonly kind: 'file' | 'folder'
  /** Without leading and closing slashes, otherwise as it stands: not checked. `''` is the root itself. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly mode: number
  /** Undefined where the pack does not say, or nothing sensible. */
  readonly modifiedAt: Date | undefined
  /** The content, which whoever takes the next entry has read to its end. Throws `invalid` when it is cut off. */
  content(): AsyncGenerator<Uint8Array>
}

/** Bytes of a PAX header or a long name. */
const longestExtension = 1024 * 1024
/** Bytes behind the end: tapes had their blocks filled up. */
const longestTail = 4 * 1024 * 1024

const refused: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  K: 'a link',
  S: 'a sparse file in the form of GNU tar; pack without --sparse, holes come back by themselves',
}

/** GNU tar names the root `./`, other services begin with a slash. */
const relativeName = (name: string): string => name.replace(/^(\.?\/)+|^\.$/, '')

const zeros = (bytes: Uint8Array): boolean => bytes.every(byte => byte === 0)

/**
 * The entries of a tar, in its order. `mayLackEnd`: a tar that ends behind the last byte of a file is whole, since some
 * services write such. Throws `invalid` for one that is damaged or cut, and for entries other than files and folders.
 */
export async function* entriesOf(
  bytes: ByteReader,
  { mayLackEnd }: { readonly mayLackEnd: boolean },
): AsyncGenerator<Entry> {
  let said: Overrides = {}
  let extensions = 0

  const extension = async ({ size, type }: Header): Promise<void> => {
    if (size > longestExtension || ++extensions > 4) throw broken('it has headers without end')
    const content = await bytes.take(size)
    if (content.length < size || (await bytes.take(getPaddingSize(size))).length < getPaddingSize(size))
      throw broken('it is cut off in a header')
    if (type === 'x') said = { ...said, ...readPax(content) }
    else if (type === 'L') said = { ...said, name: textOf(content.subarray(0, content.at(-1) === 0 ? -1 : undefined)) }
    else if (Object.keys(readPax(content)).length > 0) throw broken('it has one name, size or time for all files')
  }

  const rest = async (): Promise<void> => {
    let size = 0
    for await (const part of bytes.parts(Infinity)) {
      size += part.length
      if (!zeros(part) || size > longestTail) throw broken('something stands behind its end')
    }
  }

  for (let first = true; ; first = false) {
    const block = await bytes.take(blockSize)
    if (block.length === 0 && first) throw broken('it is empty')
    if (block.length === 0 && extensions === 0 && mayLackEnd) return
    if (block.length < blockSize) throw broken('it is cut off')
    if (zeros(block)) {
      if (extensions > 0) throw broken('its last header belongs to nothing')
      return rest()
    }
    const header = readHeader(block)
    if (header.type === 'x' || header.type === 'g' || header.type === 'L') {
      await extension(header)
      continue
    }
    const { name, size, seconds } = { ...header, ...said }
    said = {}
    extensions = 0
    if (header.type !== '0' && header.type !== '5')
      throw broken(`${quoted(name)} is ${refused[header.type] ?? 'of an unknown kind'}`)
    const folder = header.type === '5'
    if (folder && size > 0) throw broken(`${quoted(name)} is a folder with content`)

    const content = async function* (): AsyncGenerator<Uint8Array> {
      let left = size
      for await (const part of bytes.parts(size)) {
        left -= part.length
        yield part
      }
      if (left > 0) throw broken(`it is cut off in ${quoted(name)}`)
    }
    yield {
      kind: folder ? 'folder' : 'file',
      name: folder ? relativeName(name).replace(/\/$/, '') : relativeName(name),
      size,
      mode: header.mode,
      modifiedAt: seconds === 0 || seconds > largestOctal ? undefined : new Date(seconds * 1000),
      content,
    }
    // A tar without its end lacks the last padding too, but not a part of it.
    const padding = (await bytes.take(getPaddingSize(size))).length
    if (padding !== 0 && padding !== getPaddingSize(size)) throw broken(`it is cut off behind ${quoted(name)}`)
  }
}
