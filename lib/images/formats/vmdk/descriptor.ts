import type { ImageFile } from '../image-file.ts'
import type { Refuse } from '../refusal.ts'
import { sectorSize, type VmdkHeader } from './header.ts'

/** Sectors in which QEMU looks for a parent, wherever the header says that the descriptor is, and however long. */
const searchedSectors = 20
const maxSectors = 128

/** The keys that name no file, and the values that they may have. */
const knownKeys: ReadonlyMap<string, RegExp> = new Map([
  ['version', /^[1-4]$/],
  ['encoding', /^"[\w-]{1,20}"$/],
  ['CID', /^[\da-f]{1,8}$/i],
  ['parentCID', /^f{8}$/i],
  ['isNativeSnapshot', /^"no"$/],
  ['createType', /^"(monolithicSparse|streamOptimized)"$/],
])
/** The access, the sectors, the type and the name of an extent. */
const extentPattern = /^(RW|RDONLY|NOACCESS)\s+(\d{1,15})\s+(\w+)(?:\s+"([^"]*)"(?:\s+\d+)?)?$/

const parseDescriptor = (text: string, refuse: Refuse): { keys: Map<string, string>; extents: RegExpExecArray[] } => {
  const keys = new Map<string, string>()
  const extents: RegExpExecArray[] = []
  const [first = '', ...lines] = text.split(/\r?\n/).map(line => line.trim())
  if (!/^# Disk DescriptorFile$/i.test(first)) refuse('it has no descriptor')
  for (const line of lines) {
    if (line === '' || line.startsWith('#') || /^ddb\.[\w.]{1,100}\s*=/.test(line)) continue
    const extent = extentPattern.exec(line)
    if (extent) {
      extents.push(extent)
      continue
    }
    const [, key = line, value = ''] = /^(\w{1,40})\s*=\s*(.*)$/.exec(line) ?? []
    if (/^parentFileNameHint$/i.test(key)) refuse('it builds on another image')
    const values =
      knownKeys.get(key) ?? refuse(`its descriptor has the line ${JSON.stringify(line.slice(0, 60))}, which is unknown`)
    if (keys.has(key)) refuse(`its descriptor says ${key} twice`)
    if (key === 'parentCID' && !values.test(value)) refuse('it builds on another image')
    if (!values.test(value))
      refuse(`its descriptor says ${key}=${value.slice(0, 40)}, and only a sparse image in one file is accepted`)
    keys.set(key, value)
  }
  return { keys, extents }
}

const checkExtents = (extents: readonly RegExpExecArray[], sectors: number, refuse: Refuse): void => {
  const [extent, ...others] = extents
  if (!extent || others.length > 0)
    return refuse(`its descriptor names ${extents.length} files, and only its own is accepted`)
  const [, access, length, type, name = ''] = extent
  if (access === 'NOACCESS' || type !== 'SPARSE') refuse(`its descriptor names an extent of the type ${access} ${type}`)
  if (Number(length) !== sectors) refuse('its descriptor and its header disagree about the size of the disk')
  if (name === '' || name.startsWith('.') || /[/\\:]|\p{Cc}/u.test(name))
    refuse('its descriptor names a file in another folder')
}

/**
 * Reads the descriptor in a sparse image. Throws by `refuse` if the image is not complete in itself: it must name one extent, no
 * parent, and nothing that is unknown.
 */
export const checkVmdkDescriptor = async (file: ImageFile, header: VmdkHeader, refuse: Refuse): Promise<void> => {
  const { start, length } = header.descriptor
  if (start !== 1 || length < 1 || length > maxSectors) refuse('its descriptor is not behind its header')
  const bytes = await file.read(sectorSize, Math.max(length, searchedSectors) * sectorSize)
  const text = bytes.toString('latin1')
  if (/parentFileNameHint/i.test(text)) refuse('it builds on another image')
  const own = text.slice(0, length * sectorSize)
  const end = own.indexOf('\0')
  if (end >= 0 && /[^\0]/.test(own.slice(end))) refuse('its descriptor has a NUL in it')
  const { keys, extents } = parseDescriptor(end < 0 ? own : own.slice(0, end), refuse)
  for (const key of ['version', 'CID', 'parentCID', 'createType'])
    if (!keys.has(key)) refuse(`its descriptor does not say ${key}`)
  if ((keys.get('createType') === '"streamOptimized"') !== header.isCompressed)
    refuse('its descriptor and its header disagree about compression')
  checkExtents(extents, header.virtualSize / sectorSize, refuse)
}
