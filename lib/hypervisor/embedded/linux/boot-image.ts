import { type KernelHeader, setupHeaderOffset } from './kernel-header.ts'

/** Where the parts of the image are in the guest's memory. The kernel moves itself to higher memory before it needs space. */
const address = { loader: 0x100000, parameters: 0x101000, cmdline: 0x102000, kernel: 0x104000 } as const
/** The end of the memory below 1 MB that is free on every PC. */
const lowMemoryEnd = 0x9fc00
const megabyte = 1 << 20
/** Device and function of the IDE controller (a PIIX3) on v86's PCI bus. */
const ideDevice = 0xf0

const dword = (value: number): readonly number[] => [0, 8, 16, 24].map(shift => (value >>> shift) & 0xff)

/**
 * The multiboot header and, at `entry`, the loader. The loader takes the place of the initial RAM disk from the multiboot
 * information. It switches the IDE channels on, as a BIOS does and Linux does not. Then it enters the kernel by its 32-bit boot
 * protocol: flat segments 0x10 and 0x18, and the boot parameters in ESI.
 */
const createLoader = (end: number, bssEnd: number): Uint8Array => {
  const headerSize = 32
  const descriptors = [
    [0, 0],
    [0, 0],
    [0x0000ffff, 0x00cf9a00],
    [0x0000ffff, 0x00cf9200],
  ].flat()
  const code = [
    ...[0xbe, ...dword(address.parameters)], // mov esi, parameters
    ...[0x83, 0x7b, 20, 0], // cmp dword [ebx + 20], 0: the number of modules
    ...[0x74, 22], // je over the next six instructions
    ...[0x8b, 0x43, 24], // mov eax, [ebx + 24]: the list of modules
    ...[0x8b, 0x08], // mov ecx, [eax]: the start of the first one
    ...[0x89, 0x8e, ...dword(0x218)], // mov [esi + ramdisk_image], ecx
    ...[0x8b, 0x50, 4], // mov edx, [eax + 4]: its end
    ...[0x29, 0xca], // sub edx, ecx
    ...[0x89, 0x96, ...dword(0x21c)], // mov [esi + ramdisk_size], edx
    ...[0xba, ...dword(0xcf8)], // mov edx, 0xcf8: the address of the next access to the configuration of PCI devices
    ...[0xb8, ...dword(0x80000040 | (ideDevice << 8))], // mov eax, the registers of the two IDE channels
    0xef, // out dx, eax
    ...[0x83, 0xc2, 4], // add edx, 4
    ...[0xb8, ...dword(0x80008000)], // mov eax, both channels are on
    0xef, // out dx, eax
    ...[0x0f, 0x01, 0x15, ...dword(address.loader + headerSize)], // lgdt [table]
    ...[0xb8, ...dword(0x18)], // mov eax, 0x18
    ...[0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, 0x8e, 0xe0, 0x8e, 0xe8], // mov ds, es, ss, fs, gs, eax
    ...[0x31, 0xdb, 0x31, 0xed, 0x31, 0xff], // xor ebx, ebx; xor ebp, ebp; xor edi, edi
    ...[0xea, ...dword(address.kernel), 0x10, 0], // jmp 0x10:kernel
  ]
  const table = dword(descriptors.length * 4 - 1).slice(0, 2)
  const tableStart = address.loader + headerSize + 8
  const data = [...table, ...dword(tableStart), 0, 0, ...descriptors.flatMap(dword)]
  const entry = address.loader + headerSize + data.length
  const [magic, flags] = [0x1badb002, 0x10000]
  const header = [magic, flags, -(magic + flags), address.loader, address.loader, end, bssEnd, entry]
  return Uint8Array.from([...header.flatMap(dword), ...data, ...code])
}

/** Returns the boot parameters (`struct boot_params`): the setup header of the kernel, the screen, and the memory of the machine in MB. */
const createParameters = ({ setupHeader }: KernelHeader, memory: number): Uint8Array => {
  const bytes = new Uint8Array(4096)
  bytes.set(setupHeader, setupHeaderOffset)
  const view = new DataView(bytes.buffer)
  // The screen: the mode 3 of a VGA, with 80 by 25 characters that are 16 pixels high.
  bytes.set([0x03, 80], 0x06)
  view.setUint16(0x0a, 3, true) // orig_video_ega_bx: more than 64 KB of memory, in colour
  bytes.set([25, 1, 16], 0x0e)
  view.setUint8(0x210, 0xff) // type_of_loader: one without a number
  view.setUint32(0x218, 0, true) // ramdisk_image
  view.setUint32(0x21c, 0, true) // ramdisk_size
  view.setUint32(0x228, address.cmdline, true)
  const ranges = [
    [0, lowMemoryEnd],
    [megabyte, (memory - 1) * megabyte],
  ] as const
  view.setUint8(0x1e8, ranges.length)
  for (const [at, [start, size]] of ranges.entries()) {
    const entry = 0x2d0 + at * 20
    view.setBigUint64(entry, BigInt(start), true)
    view.setBigUint64(entry + 8, BigInt(size), true)
    view.setUint32(entry + 16, 1, true) // RAM
  }
  return bytes
}

interface Options {
  readonly header: KernelHeader
  readonly cmdline: string
  /** MB */
  readonly memory: number
}

/**
 * Returns a multiboot image that boots a Linux kernel (bzImage) without a BIOS. The emulator puts an initial RAM disk after the memory
 * that the image claims, which is all that the kernel needs to unpack itself.
 */
export const createBootImage = (kernel: Uint8Array, { header, cmdline, memory }: Options): ArrayBuffer => {
  const code = kernel.subarray(header.setupSize)
  const end = address.kernel + code.length
  const image = new Uint8Array(end - address.loader)
  const put = (at: number, bytes: Uint8Array): void => image.set(bytes, at - address.loader)
  put(address.loader, createLoader(end, Math.max(end, header.end)))
  put(address.parameters, createParameters(header, memory))
  put(address.cmdline, Buffer.from(cmdline))
  put(address.kernel, code)
  return image.buffer
}
