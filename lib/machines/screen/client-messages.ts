import { ServiceError } from '#lib/errors.ts'

/**
 * Reads what an RFB client sends (RFC 6143), and returns what of it the server gets. Throws `invalid` for what is no message of the
 * protocol, since nobody knows where the next one begins.
 */
export type ReadClientBytes = (bytes: Uint8Array) => Uint8Array

/** A message, or a step of the handshake: its length in bytes, and whether the server gets it. */
interface Message {
  readonly length: number
  readonly isPassed: boolean
}

/** Returns the message that begins with these bytes; undefined if more of them are needed to know its length. */
type ReadMessage = (bytes: Buffer) => Message | undefined

/** What a message does: it asks for the picture, it acts on the guest, or it gives the guest text of the client's clipboard. */
type Purpose = 'view' | 'input' | 'clipboard'

/** The length of a message depends on a number in it: `start` bytes, and `size` bytes for each one that `count` reads. */
interface Layout {
  readonly purpose: Purpose
  readonly start: number
  readonly size?: number
  readonly count?: (bytes: Buffer) => number
}

/** The messages of a client by their type: those of RFC 6143, 7.5, and those that QEMU takes beside them. */
const layouts: ReadonlyMap<number, Layout> = new Map<number, Layout>([
  // SetPixelFormat, SetEncodings, FramebufferUpdateRequest.
  [0, { purpose: 'view', start: 20 }],
  [2, { purpose: 'view', start: 4, size: 4, count: bytes => bytes.readUInt16BE(2) }],
  [3, { purpose: 'view', start: 10 }],
  // KeyEvent, PointerEvent.
  [4, { purpose: 'input', start: 8 }],
  [5, { purpose: 'input', start: 6 }],
  // ClientCutText. The length of an extended one is negative.
  [6, { purpose: 'clipboard', start: 8, size: 1, count: bytes => Math.abs(bytes.readInt32BE(4)) }],
  // xvp (shut down, reset) and SetDesktopSize.
  [250, { purpose: 'input', start: 4 }],
  [251, { purpose: 'input', start: 8, size: 16, count: bytes => bytes.readUInt8(6) }],
])

/** The type of QEMU's own messages. Their second byte is their kind: a key with its scan code, or audio. */
const qemuType = 255
const [extendedKey, audio] = [0, 1]
/** What follows the operation of an audio message; the operation 2 sets a format. */
const setFormat = 2

const refuse = (what: string): never => {
  throw new ServiceError('invalid', `${what} is not known here.`)
}

const findQemuLayout = (bytes: Buffer): Layout | undefined => {
  if (bytes.length < 4) return undefined
  if (bytes[1] === extendedKey) return { purpose: 'input', start: 12 }
  if (bytes[1] !== audio) return refuse(`A message of the type ${qemuType} and the kind ${bytes[1]}`)
  return { purpose: 'input', start: bytes.readUInt16BE(2) === setFormat ? 10 : 4 }
}

const findLayout = (bytes: Buffer): Layout | undefined => {
  const [type = 0] = bytes
  return type === qemuType ? findQemuLayout(bytes) : (layouts.get(type) ?? refuse(`A message of the type ${type}`))
}

const readMessage =
  (allowsInput: boolean): ReadMessage =>
  bytes => {
    const layout = findLayout(bytes)
    // The number that the length depends on is in the first eight bytes.
    if (!layout || bytes.length < Math.min(layout.start, 8)) return undefined
    const { purpose, start, size = 0, count } = layout
    // QEMU would give the text to the other viewers, and no guest gets it.
    const isPassed = purpose === 'view' || (purpose === 'input' && allowsInput)
    return { length: start + size * (count?.(bytes) ?? 0), isPassed }
  }

const passedByte: Message = { length: 1, isPassed: true }

/** The only security type of the server: none. It has its own authentication behind it. */
const noSecurity = 1

const readSecurity: ReadMessage = ([type = 0]) =>
  type === noSecurity ? passedByte : refuse(`The security type ${type}`)

/** The steps of the handshake (RFC 6143, 7.1 to 7.3.1) after a version. Up to 3.5 the server alone chooses the security. */
const listSteps = (version: string): readonly ReadMessage[] => {
  const minor = /^RFB 003\.00([34578])\n$/.exec(version)?.[1]
  if (minor === undefined) return refuse('This version of RFB')
  const readInit: ReadMessage = () => passedByte
  return Number(minor) < 7 ? [readInit] : [readSecurity, readInit]
}

const versionLength = 12

/** Creates the reader of one client. Without `allowsInput`, the server gets nothing that acts on the guest. */
export const createClientReader = (allowsInput: boolean): ReadClientBytes => {
  const steps: ReadMessage[] = [
    bytes => {
      if (bytes.length < versionLength) return undefined
      steps.push(...listSteps(bytes.toString('latin1', 0, versionLength)))
      return { length: versionLength, isPassed: true }
    },
  ]
  const readNext = readMessage(allowsInput)
  /** The beginning of a message whose length is not known yet: less than 12 bytes. */
  let held: Buffer = Buffer.alloc(0)
  let current: Message = { length: 0, isPassed: false }

  return bytes => {
    const passed: Buffer[] = []
    let rest =
      held.length === 0 ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat([held, bytes])
    while (rest.length > 0) {
      if (current.length === 0) {
        const message = (steps[0] ?? readNext)(rest)
        if (!message) break
        steps.shift()
        current = message
      }
      const part = rest.subarray(0, current.length)
      if (current.isPassed) passed.push(part)
      current = { ...current, length: current.length - part.length }
      rest = rest.subarray(part.length)
    }
    held = Buffer.from(rest)
    return Buffer.concat(passed)
  }
}
