/** Bytes of a piece. It leaves room for the key in a row of 2 MB. */
export const pieceSize = 1_000_000

/** Cuts bytes into pieces that fit into a row of the database. Empty bytes are one piece. */
export const cutIntoPieces = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.max(1, Math.ceil(bytes.length / pieceSize)) }, (_, at) =>
    bytes.slice(at * pieceSize, (at + 1) * pieceSize),
  )

/** A piece of the value of `id`, as the database gives it. */
export interface Piece<Id> {
  readonly id: Id
  readonly value: ArrayBuffer
}

/** Joins pieces to values by id. The pieces of one value come in their order. */
export const joinPieces = <Id>(pieces: readonly Piece<Id>[]): ReadonlyMap<Id, Uint8Array> =>
  new Map(
    [...Map.groupBy(pieces, ({ id }) => id)].map(([id, parts]) => {
      const [first, ...others] = parts
      const isWhole = first && others.length === 0
      return [id, isWhole ? new Uint8Array(first.value) : Buffer.concat(parts.map(({ value }) => Buffer.from(value)))]
    }),
  )
