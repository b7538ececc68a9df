/** An empty qcow2 image (version 3) that says that it needs another file; good enough to be opened and looked at. */
export const qcow2Header = ({ backing = '', dataFile = '', size = 1 << 20 } = {}): Buffer => {
  const header = Buffer.alloc(3 << 16)
  header.write('QFI\xfb', 'latin1')
  header.writeUInt32BE(3, 4)
  header.writeUInt32BE(16, 20) // cluster bits
  header.writeBigUInt64BE(BigInt(size), 24)
  header.writeUInt32BE(1, 36) // entries of the table of data
  header.writeBigUInt64BE(2n << 16n, 40) // where it is
  header.writeBigUInt64BE(1n << 16n, 48) // where the reference counts are
  header.writeUInt32BE(1, 56) // their clusters
  header.writeUInt32BE(4, 96) // refcount order
  header.writeUInt32BE(104, 100) // header length
  let at = 104
  if (dataFile !== '') {
    header.writeBigUInt64BE(4n, 72)
    header.writeUInt32BE(0x44415441, at)
    header.writeUInt32BE(dataFile.length, at + 4)
    header.write(dataFile, at + 8)
    at += 8 + Math.ceil(dataFile.length / 8) * 8
  }
  at += 8 // the end of the extensions
  if (backing !== '') {
    header.writeBigUInt64BE(BigInt(at), 8)
    header.writeUInt32BE(backing.length, 16)
    header.write(backing, at)
  }
  return header
}
