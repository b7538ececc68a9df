import type { XmlElement } from '#lib/objects/http/xml.ts'
import { quoteName } from '#lib/packs/pack-errors.ts'
import type { Refuse } from '../refusal.ts'

// Elements: DMTF DSP0243, Open Virtualization Format.

const parseEnvelope = async (text: string, refuse: Refuse): Promise<XmlElement> => {
  // Few images are archives, so the library is loaded by the first one.
  const { parseDocument } = await import('#lib/objects/http/xml-parser.ts')
  const parse = (): XmlElement => {
    try {
      return parseDocument(text)
    } catch {
      return refuse('its descriptor is no XML that can be read')
    }
  }
  const [root] = parse().children
  return root?.name === 'Envelope' ? root : refuse('its descriptor is no OVF document')
}

const listChildren = (element: XmlElement, section: string, name: string): readonly XmlElement[] =>
  element.children
    .filter(child => child.name === section)
    .flatMap(child => child.children.filter(one => one.name === name))

/**
 * Returns the names of the files of the disks that an OVF descriptor describes, in its order. Throws by `refuse` for a descriptor
 * without disks, and for disks that are not a whole file of the archive.
 */
export const readDiskNames = async (text: string, refuse: Refuse): Promise<readonly string[]> => {
  const root = await parseEnvelope(text, refuse)
  const files = new Map<string, XmlElement>()
  for (const file of listChildren(root, 'References', 'File')) {
    const id = file.attributes.get('id') ?? refuse('its descriptor has a file without an id')
    if (files.has(id)) refuse(`its descriptor has the file ${quoteName(id)} twice`)
    files.set(id, file)
  }
  const names = listChildren(root, 'DiskSection', 'Disk').map(disk => {
    const id = quoteName(disk.attributes.get('diskId') ?? '')
    if (disk.attributes.has('parentRef')) refuse(`its disk ${id} builds on another one`)
    const reference = disk.attributes.get('fileRef') ?? refuse(`its disk ${id} has no file`)
    const file = files.get(reference) ?? refuse(`its disk ${id} has the file ${quoteName(reference)}, which it lacks`)
    if (file.attributes.has('chunkSize')) refuse(`its disk ${id} is in several files`)
    if ((file.attributes.get('compression') ?? 'identity') !== 'identity') refuse(`its disk ${id} is compressed`)
    return file.attributes.get('href') ?? refuse(`its disk ${id} has a file without a name`)
  })
  if (names.length === 0) refuse('its descriptor has no disk')
  if (new Set(names).size < names.length) refuse('two of its disks have one file')
  return names
}
