/**
 * What a Linux kernel (bzImage) says of itself. All names, places and rules are those of the kernel's documentation: The Linux/x86
 * Boot Protocol.
 */
export interface KernelHeader {
  /** Bytes before the 32-bit kernel: the code for the start by a BIOS. */
  readonly setupSize: number
  /** The setup header, which the boot parameters contain at the same place (0x1f1). */
  readonly setupHeader: Uint8Array
  /** The longest command line, in bytes. */
  readonly cmdlineSize: number
  /** The memory that the kernel needs before it knows what is free: from 0 to this address. */
  readonly end: number
  readonly is64Bit: boolean
}

/** The place of the setup header in the kernel and in the boot parameters. */
export const setupHeaderOffset = 0x1f1

/** Bytes of the start of a kernel that `parseKernelHeader` needs. */
export const kernelHeaderSize = 0x300

/** Version 2.10, of 2009: the first one with the size of the memory that the kernel needs. */
const minVersion = 0x020a

/** Parses the start of a file. Returns undefined if it is no Linux kernel, or one without a 32-bit entry. */
export const parseKernelHeader = (start: Uint8Array): KernelHeader | undefined => {
  if (start.length < kernelHeaderSize) return undefined
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength)
  const isLinux = view.getUint16(0x1fe, true) === 0xaa55 && view.getUint32(0x202) === 0x48647253
  if (!isLinux || view.getUint16(0x206, true) < minVersion) return undefined
  const isLoadedHigh = (view.getUint8(0x211) & 1) !== 0
  if (!isLoadedHigh) return undefined
  return {
    // Zero stands for four sectors.
    setupSize: ((view.getUint8(0x1f1) || 4) + 1) * 512,
    setupHeader: start.subarray(setupHeaderOffset, 0x202 + view.getUint8(0x201)),
    cmdlineSize: view.getUint32(0x238, true),
    end: Number(view.getBigUint64(0x258, true)) + view.getUint32(0x260, true),
    is64Bit: (view.getUint16(0x236, true) & 1) !== 0,
  }
}
