import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Conversion, convertToQcow2 } from '#lib/images/convert/convert-to-qcow2.ts'
import type { DiskFacts, ImageFacts } from '#lib/images/formats/facts.ts'
import { inspectImage } from '#lib/images/formats/inspect-image.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { openFile } from '#lib/platform/open-file.ts'
import type { Account } from '#lib/platform/processes.ts'

type Overrides = Partial<Conversion> & { readonly account?: Account }

/** Converts one disk of the image at `path` into the new image at `target`. */
export const convert = async (
  path: string,
  target: string,
  { account, ...overrides }: Overrides = {},
  choose: (facts: ImageFacts) => DiskFacts = facts => ('disks' in facts ? facts.disks[0]! : facts),
): Promise<void> => {
  await using source = await openFile(path)
  const facts = overrides.facts ?? choose(await inspectImage(source))
  const programs = (await findQemu())!
  const deadline = new AbortController().signal
  const conversion = { source, facts, target, deadline, onProgress: () => {}, ...overrides }
  await convertToQcow2({ programs, account }, conversion)
}

/** Returns what a guest sees on a qcow2 disk. */
export const readDisk = (folder: string, image: string, format = 'qcow2'): Buffer => {
  const raw = join(folder, 'disk.raw')
  execFileSync('qemu-img', ['convert', '-f', format, '-O', 'raw', image, raw])
  return readFileSync(raw)
}

/** Converts the bytes of an image and returns what a guest sees. */
export const convertBytes = async (
  folder: string,
  bytes: Uint8Array,
  choose?: (facts: ImageFacts) => DiskFacts,
): Promise<Buffer> => {
  const [path, target] = [join(folder, `image-${crypto.randomUUID()}`), join(folder, `${crypto.randomUUID()}.qcow2`)]
  writeFileSync(path, bytes)
  await convert(path, target, {}, choose)
  return readDisk(folder, target)
}
