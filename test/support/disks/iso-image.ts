const sector = 2_048

/**
 * The image of a CD of so many sectors, at most 127, with a volume descriptor (ECMA-119 8.4) and a text at its end. All of its
 * bytes are ASCII, so that it can be sent as a text.
 */
export const buildIsoImage = (sectors: number, text = ''): Buffer => {
  const image = Buffer.alloc(sectors * sector)
  image.write('\u0001CD001\u0001', 16 * sector, 'latin1')
  image.writeUInt32LE(sectors, 16 * sector + 80)
  image.writeUInt32BE(sectors, 16 * sector + 84)
  image.writeUInt16LE(1, 16 * sector + 128)
  image.write(text, image.length - text.length, 'latin1')
  return image
}
