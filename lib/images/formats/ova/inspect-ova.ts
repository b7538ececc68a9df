import { quoteName } from '#lib/packs/pack-errors.ts'
import type { ArchiveFacts, NamedDisk } from '../facts.ts'
import type { ImageFile } from '../image-file.ts'
import { inspectDisk } from '../inspect-disk.ts'
import { createRefuse } from '../refusal.ts'
import { listMembers, type Member } from './archive.ts'
import { readDiskNames } from './descriptor.ts'
import { checkManifest } from './manifest.ts'

const refuse = createRefuse('ova')

const maxTextSize = 2 ** 20

const readText = async (member: Member, what: string): Promise<string> => {
  if (member.size > maxTextSize) refuse(`its ${what} is larger than ${maxTextSize / 2 ** 20} MB`)
  return (await member.read(0, member.size)).toString('utf8')
}

/** True if a file begins as a tar does. */
export const isTar = async (file: ImageFile): Promise<boolean> =>
  (await file.read(257, 5)).toString('latin1') === 'ustar'

/**
 * Inspects an OVA: a tar with an OVF descriptor, its disks, and perhaps a manifest, whose digests must be right. Its disks are
 * inspected in place. Throws `invalid` with what is wrong, or the reason of the signal.
 */
export const inspectOva = async (file: ImageFile, signal?: AbortSignal): Promise<ArchiveFacts> => {
  const members = await listMembers(file, refuse)
  const findOne = (extension: string): readonly [name: string, member: Member] | undefined => {
    const [first, second] = [...members].filter(([name]) => name.toLowerCase().endsWith(extension))
    if (second) refuse(`it contains two files *${extension}`)
    return first
  }
  const [descriptorName, descriptor] = findOne('.ovf') ?? refuse('it is a tar without a descriptor (*.ovf)')
  const names = await readDiskNames(await readText(descriptor, 'descriptor'), refuse)

  const disks: NamedDisk[] = []
  for (const name of names) {
    const member = members.get(name) ?? refuse(`its descriptor names ${quoteName(name)}, which it lacks`)
    const content = await inspectDisk(member)
    if (content.format === 'raw' || content.format === 'iso')
      refuse(`its disk ${quoteName(name)} is no image of a disk that the service knows`)
    disks.push({ name, ...content, offset: member.offset, length: member.size })
  }
  const manifest = findOne('.mf')
  if (manifest) {
    const text = await readText(manifest[1], 'manifest')
    await checkManifest(text, { members, required: [descriptorName, ...names] }, refuse, signal)
  }
  return { format: 'ova', virtualSize: disks.reduce((sum, disk) => sum + disk.virtualSize, 0), disks }
}
