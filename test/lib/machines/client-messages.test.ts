import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createClientReader } from '#lib/machines/screen/client-messages.ts'

const bytesOf = (...parts: (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

/** Version, no security, ClientInit. */
const handshake = bytesOf('RFB 003.008\n', [1], [1])

const viewing = [
  ['SetPixelFormat', bytesOf([0, 0, 0, 0], Array<number>(16).fill(4))],
  ['SetEncodings', bytesOf([2, 0, 0, 3], Array<number>(12).fill(5))],
  ['SetEncodings with none', bytesOf([2, 0, 0, 0])],
  ['FramebufferUpdateRequest', bytesOf([3, 1, 0, 0, 0, 0, 2, 128, 1, 224])],
] as const
const acting = [
  ['KeyEvent', bytesOf([4, 1, 0, 0, 0, 0, 0, 97])],
  ['PointerEvent', bytesOf([5, 1, 0, 10, 0, 10])],
  ['xvp', bytesOf([250, 0, 1, 2])],
  ['SetDesktopSize', bytesOf([251, 0, 4, 0, 3, 0, 1, 0], Array<number>(16).fill(0))],
  ['a key with its scan code', bytesOf([255, 0, 0, 1, 0, 0, 0, 97, 0, 0, 0, 30])],
  ['audio', bytesOf([255, 1, 0, 0])],
  ['a format of audio', bytesOf([255, 1, 0, 2, 3, 2, 0, 0, 172, 68])],
] as const
const clipboard = [
  ['ClientCutText', bytesOf([6, 0, 0, 0, 0, 0, 0, 3], 'abc')],
  ['an extended ClientCutText', bytesOf([6, 0, 0, 0, 255, 255, 255, 252], [0, 0, 0, 1])],
] as const

/** What the server gets after a handshake. */
const pass = (allowsInput: boolean, bytes: Uint8Array): Buffer => {
  const read = createClientReader(allowsInput)
  expect(Buffer.from(read(handshake))).toEqual(handshake)
  return Buffer.from(read(bytes))
}
const end = bytesOf([2, 0, 0, 0])

describe('the reader of what an RFB client sends', () => {
  test.for(viewing)('passes %s in any case', ([, message]) => {
    for (const allowsInput of [true, false])
      expect(pass(allowsInput, bytesOf([...message], [...end]))).toEqual(bytesOf([...message], [...end]))
  })

  test.for(acting)('passes %s only with the right to it', ([, message]) => {
    expect(pass(true, bytesOf([...message], [...end]))).toEqual(bytesOf([...message], [...end]))
    expect(pass(false, bytesOf([...message], [...end]))).toEqual(end)
  })

  test.for(clipboard)('passes %s never, since QEMU gives it to the other viewers', ([, message]) => {
    for (const allowsInput of [true, false]) expect(pass(allowsInput, bytesOf([...message], [...end]))).toEqual(end)
  })

  test.for([
    ['a type that there is not', bytesOf([...handshake], [7])],
    ['a kind that QEMU does not have', bytesOf([...handshake], [255, 2, 0, 0])],
    ['another protocol', bytesOf('GET / HTTP/1')],
    ['a version with another handshake', bytesOf('RFB 003.889\n')],
    ['a security type with more to say', bytesOf('RFB 003.008\n', [2])],
  ] as const)('refuses %s', ([, bytes]) => {
    expect(() => createClientReader(true)(bytes)).toThrow(/is not known here/)
  })

  test('reads the handshake of version 3.3, in which the server chooses the security', () => {
    const old = bytesOf('RFB 003.003\n', [1], [4, 1, 0, 0, 0, 0, 0, 97], [...end])
    expect(Buffer.from(createClientReader(false)(old))).toEqual(bytesOf('RFB 003.003\n', [1], [...end]))
  })

  test('gives the same however the bytes are divided, and keeps no more than the beginning of a message', () => {
    const messages = [...viewing, ...acting, ...clipboard].map(([, message]) => message)
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...messages), { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        fc.boolean(),
        (sent, sizes, allowsInput) => {
          const bytes = Buffer.concat([handshake, ...sent])
          const read = createClientReader(allowsInput)
          const passed: Uint8Array[] = []
          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const size = sizes[turn % sizes.length]!
            passed.push(read(bytes.subarray(at, at + size)))
            at += size
          }
          expect(Buffer.concat(passed)).toEqual(Buffer.from(createClientReader(allowsInput)(bytes)))
        },
      ),
    )
  })
})
