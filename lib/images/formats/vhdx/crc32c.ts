/** The remainders of all bytes for the polynomial of Castagnoli, reflected. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ ((remainder & 1) === 1 ? 0x82f63b78 : 0)
  return remainder >>> 0
})

/** Returns the CRC-32C (RFC 3720, appendix B.4) of bytes, in which the four at `skipped` count as zeros. */
export const computeCrc32c = (bytes: Uint8Array, skipped: number): number => {
  let sum = 0xffffffff
  for (const [at, byte] of bytes.entries()) {
    const counted = at >= skipped && at < skipped + 4 ? 0 : byte
    // The index is a byte, and there is a remainder for each.
    sum = (sum >>> 8) ^ remainders[(sum ^ counted) & 0xff]!
  }
  return (sum ^ 0xffffffff) >>> 0
}
