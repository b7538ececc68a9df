/** A file in an archive of `ar`. */
interface Member {
  /** At most 16 bytes. */
  readonly name: string
  readonly content: Uint8Array
}

/** Encodes an archive of `ar`, as a Debian package is one (deb(5)). All times are `seconds` since 1970. */
export const encodeAr = (members: readonly Member[], seconds: number): Buffer =>
  Buffer.concat([
    Buffer.from('!<arch>\n'),
    ...members.flatMap(({ name, content }) => [
      Buffer.from(
        [name.padEnd(16), String(seconds).padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)].join('') +
          `${String(content.length).padEnd(10)}\`\n`,
      ),
      content,
      Buffer.alloc(content.length % 2, '\n'),
    ]),
  ])
