import type { ImageFile } from '../image-file.ts'
import type { Refuse } from '../refusal.ts'
import { readVmdkHeader, sectorSize, type VmdkHeader } from './header.ts'

/** The type of the marker before the footer. */
const footerType = 3

/**
 * Reads the footer, a second header that says where the grain directory is: a program that writes a stream knows that only at the
 * end. A marker precedes the footer, and an empty marker follows. Readers use it in place of the header, so both must agree.
 */
export const readVmdkFooter = async (file: ImageFile, header: VmdkHeader, refuse: Refuse): Promise<VmdkHeader> => {
  if (file.size % sectorSize !== 0) refuse('it does not end with its footer, so it was cut off')
  const end = await file.read(Math.max(0, file.size - 3 * sectorSize), 3 * sectorSize)
  const isMarked =
    end.length === 3 * sectorSize &&
    end.readUInt32LE(8) === 0 &&
    end.readUInt32LE(12) === footerType &&
    end.subarray(2 * sectorSize, 2 * sectorSize + 16).every(byte => byte === 0)
  if (!isMarked) refuse('it does not end with its footer, so it was cut off')
  const footer = readVmdkHeader(end.subarray(sectorSize, 2 * sectorSize), file.size, refuse)
  const isSame =
    footer.virtualSize === header.virtualSize &&
    footer.grainSize === header.grainSize &&
    footer.isCompressed === header.isCompressed &&
    footer.hasZeroGrains === header.hasZeroGrains
  if (!isSame) refuse('its header and its footer disagree')
  return footer
}
