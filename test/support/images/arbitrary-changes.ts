import fc from 'fast-check'

/** Numbers that break what computes with them. */
const numbers = fc.oneof(
  fc.constantFrom(
    0n,
    1n,
    2n,
    511n,
    512n,
    4096n,
    65_536n,
    2n ** 31n,
    2n ** 32n - 1n,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n - 1n,
  ),
  fc.bigInt({ min: 0n, max: 2n ** 16n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
)

const writers = {
  u8: (bytes: Buffer, at: number, value: bigint) => bytes.writeUInt8(Number(value & 0xffn), at),
  u32be: (bytes: Buffer, at: number, value: bigint) => bytes.writeUInt32BE(Number(value & 0xffffffffn), at),
  u32le: (bytes: Buffer, at: number, value: bigint) => bytes.writeUInt32LE(Number(value & 0xffffffffn), at),
  u64be: (bytes: Buffer, at: number, value: bigint) => bytes.writeBigUInt64BE(value, at),
  u64le: (bytes: Buffer, at: number, value: bigint) => bytes.writeBigUInt64LE(value, at),
}
const kinds = ['u8', 'u32be', 'u32le', 'u64be', 'u64le'] as const

/** Changes of a few numbers in these ranges of an image, aligned as tables are. */
export const arbitraryChanges = (ranges: readonly (readonly [start: number, end: number])[]) => {
  const position = fc
    .constantFrom(...ranges)
    .chain(([start, end]) => fc.integer({ min: start, max: end - 8 }))
    .chain(at => fc.constantFrom(at, at - (at % 4), at - (at % 8)))
  const change = fc.record({ at: position, kind: fc.constantFrom(...kinds), value: numbers }).map(
    ({ at, kind, value }) =>
      (bytes: Buffer): unknown =>
        writers[kind](bytes, Math.max(0, at), value),
  )
  return fc.array(change, { minLength: 1, maxLength: 3 })
}
