/** Reads a GUID, whose first three groups are little endian; returns it in lower case. */
export const readGuid = (bytes: Buffer, at: number): string =>
  [
    bytes.readUInt32LE(at).toString(16).padStart(8, '0'),
    bytes
      .readUInt16LE(at + 4)
      .toString(16)
      .padStart(4, '0'),
    bytes
      .readUInt16LE(at + 6)
      .toString(16)
      .padStart(4, '0'),
    bytes.toString('hex', at + 8, at + 10),
    bytes.toString('hex', at + 10, at + 16),
  ].join('-')
