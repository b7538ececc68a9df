/** The address of the kernel in memory. */
const base = 0x100000
const headerSize = 32
const descriptorSize = 16

/** A datagram that the guest sends. The address is that in the guest's network. */
interface Datagram {
  readonly to: string
  readonly port: number
  readonly text: string
}

const sum16 = (bytes: Uint8Array): number => {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += bytes[at]! * 256 + (bytes[at + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}

const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, at * 2)
  return bytes
}

const addressOf = (ip: string): Buffer => {
  if (!ip.includes(':')) return Buffer.from(ip.split('.').map(Number))
  const [head = '', tail = ''] = ip.split('::')
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16))
  const [before, after] = [groups(head), groups(tail)]
  return words(...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after)
}

/** An Ethernet frame from the guest to its gateway. */
const frameOf = ({ to, port, text }: Datagram): Buffer => {
  const sixth = to.includes(':')
  const [source, target] = [addressOf(sixth ? 'fec0::15' : '10.0.2.15'), addressOf(to)]
  const payload = Buffer.from(text)
  const length = 8 + payload.length
  const udp = (sum: number): Buffer => Buffer.concat([words(40_000, port, length, sum), payload])
  // Only IPv6 requires the checksum.
  const sum = sixth ? sum16(Buffer.concat([source, target, words(0, length, 0, 17), udp(0)])) : 0
  const four = (check: number): Buffer =>
    Buffer.concat([words(0x4500, 20 + length, 1, 0, 0x4011, check), source, target])
  const header = sixth ? Buffer.concat([words(0x6000, 0, length, 0x1140), source, target]) : four(sum16(four(0)))
  const ethernet = Buffer.from([0x52, 0x55, 10, 0, 2, 2, 0x52, 0x54, 0, 0, 0, 1])
  return Buffer.concat([ethernet, words(sixth ? 0x86dd : 0x0800), header, udp(sum)])
}

const number32 = (value: number): number[] => [...new Uint8Array(Uint32Array.of(value).buffer)]
const readPci = [0x66, 0xba, 0xf8, 0x0c, 0xef, 0x66, 0xba, 0xfc, 0x0c, 0xed] // eax = the register that eax names
const setCard = (register: number, value: number): number[] => [0xc7, 0x86, ...number32(register), ...number32(value)]

/** Returns 32-bit code that finds the e1000 card, sends `count` descriptors repeatedly and prints `S` each time. */
const programFor = (descriptors: number, count: number): number[] => {
  const scan = [0x89, 0xd8, ...readPci, 0x3d, ...number32(0x100e8086)]
  const next = [0x81, 0xc3, ...number32(0x800)]
  const send = [
    ...setCard(0x3810, 0),
    ...setCard(0x3818, 0),
    ...setCard(0x3818, count),
    ...[0x66, 0xba, 0xf8, 0x03, 0xb0, 0x53, 0xee], // S
    ...[0xb9, ...number32(0x100000), 0xe2, 0xfe], // a moment
  ]
  return [
    ...[0xbb, ...number32(0x80000000)],
    ...[...scan, 0x74, next.length + 2, ...next, 0xeb, 256 - scan.length - 4 - next.length],
    ...[0x8d, 0x43, 0x04, ...readPci, 0x83, 0xc8, 0x06, 0xef], // it may use its memory
    ...[0x8d, 0x43, 0x10, ...readPci, 0x83, 0xe0, 0xf0, 0x89, 0xc6], // esi = its registers
    ...setCard(0x3800, descriptors),
    ...setCard(0x3804, 0),
    ...setCard(0x3808, 128),
    ...setCard(0x400, 0x0a), // send, and pad short packets
    ...[...send, 0xeb, 256 - send.length - 2],
  ]
}

/** Builds a multiboot kernel that sends UDP datagrams for ever through its network card and prints `S` after each round. */
export const buildSendingKernel = (datagrams: readonly Datagram[]): Buffer => {
  const frames = datagrams.map(frameOf)
  const codeSize = programFor(0, datagrams.length).length
  const descriptors = Math.ceil((base + headerSize + codeSize) / descriptorSize) * descriptorSize
  let place = descriptors + frames.length * descriptorSize
  const table = frames.map(frame => {
    const descriptor = Buffer.alloc(descriptorSize)
    descriptor.writeUInt32LE(place)
    descriptor.writeUInt32LE((frame.length | (3 << 24)) >>> 0, 8) // the end of a packet, with its check sum
    place += frame.length
    return descriptor
  })
  const header = Buffer.from(
    [
      0x1badb002,
      0x10000,
      (0x100000000 - 0x1badb002 - 0x10000) >>> 0,
      base,
      base,
      place,
      place,
      base + headerSize,
    ].flatMap(number32),
  )
  const code = Buffer.from(programFor(descriptors, frames.length))
  const gap = Buffer.alloc(descriptors - base - headerSize - code.length)
  return Buffer.concat([header, code, gap, ...table, ...frames])
}
