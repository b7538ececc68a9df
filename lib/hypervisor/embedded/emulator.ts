import { readFileSync } from 'node:fs'
import type { V86, V86Image, V86Options } from 'v86'
import { openDisk } from './disks/device.ts'
import { createBootImage } from './linux/boot-image.ts'
import { parseKernelHeader } from './linux/kernel-header.ts'
import type { Line, StateToRestore, WorkerData, WorkerEvent } from './protocol.ts'
import { readState, computeSha256, writeState, type Origin } from './saved-state.ts'
import { enableGraphics } from './screen/draw-graphics.ts'
import { enterTextMode } from './screen/enter-text-mode.ts'
import { takeScreenshot } from './screen/take-screenshot.ts'
import { createSerialLines } from './serial/lines.ts'

export interface Emulator {
  run(): Promise<void>
  /** Pauses the guest and makes its disk durable. */
  pause(): Promise<void>
  /** Pauses and writes the state to `path`. */
  save(path: string): Promise<void>
  /** Draws the screen as a PNG. */
  takeScreenshot(): Uint8Array<ArrayBuffer>
  sendInput(line: Line, bytes: Uint8Array): void
}

/** A state file that cannot be restored; the message says why. */
export class UnusableStateError extends Error {}

/** What v86 has beside its types. The names are those of its source (src/cpu.js). */
interface Internals {
  readonly v86: { readonly cpu: { reboot_internal: () => void } }
}

const readImage = (path: string): V86Image => ({ buffer: new Uint8Array(readFileSync(path)).buffer })

const readKernel = ({ kernel: path, isLinux, cmdline = '', memory }: WorkerData): V86Image => {
  if (!isLinux) return readImage(path)
  const kernel = readFileSync(path)
  const header = parseKernelHeader(kernel)
  if (!header) throw new Error('the kernel was replaced')
  return { buffer: createBootImage(kernel, { header, cmdline, memory }) }
}

/** Creates a PC that does not run yet. Reports what its guest does. Throws UnusableStateError. */
export const createEmulator = async (data: WorkerData, report: (event: WorkerEvent) => void): Promise<Emulator> => {
  const { V86 } = await import('v86')
  const disk = openDisk(data.disk)
  const readOrigin = (id: string): Origin => ({
    id,
    emulator: data.program.digest,
    memory: data.memory,
    disk: computeSha256(disk.bytes),
  })
  const loadState = ({ path, id }: StateToRestore): V86Image => {
    try {
      return { buffer: readState(path, readOrigin(id)) }
    } catch (error) {
      throw new UnusableStateError(error instanceof Error ? error.message : String(error))
    }
  }
  const options: V86Options = {
    wasm_fn: async imports => (await WebAssembly.instantiate(data.program.module, imports)).exports,
    memory_size: data.memory << 20,
    vga_memory_size: 1 << 20,
    multiboot: readKernel(data),
    // v86 accepts any object with the methods of its own disk images, which its types do not say.
    hda: disk.device as unknown as V86Image,
    disable_keyboard: true,
    disable_mouse: true,
    disable_speaker: true,
    uart1: data.isLinux,
    ...(data.cdrom !== undefined && { cdrom: readImage(data.cdrom) }),
    ...(data.initrd !== undefined && { initrd: readImage(data.initrd) }),
    ...(data.cmdline !== undefined && !data.isLinux && { cmdline: data.cmdline }),
    ...(data.state !== undefined && { initial_state: loadState(data.state) }),
  }
  enableGraphics()
  const emulator: V86 = new V86(options)
  const lines = createSerialLines(emulator, data, report)
  const onEnd = (isReboot: boolean): void => {
    lines.flush()
    disk.sync()
    report({ event: 'ended', isReboot })
  }
  // v86 emits this event when the processor halts with interrupts off; its types do not list it.
  emulator.add_listener('cpu-event-halt' as 'emulator-stopped', () => onEnd(false))
  await new Promise<void>(resolve => emulator.add_listener('emulator-loaded', resolve))
  // Without a BIOS the processor would go on with nothing to execute.
  ;(emulator as unknown as Internals).v86.cpu.reboot_internal = () => {
    void emulator.stop()
    onEnd(true)
  }
  // A saved state has the registers of its VGA.
  if (data.state === undefined) enterTextMode(emulator)
  lines.start()

  const pause = async (): Promise<void> => {
    await emulator.stop()
    lines.flush()
    disk.sync()
  }
  return {
    run: () => emulator.run(),
    pause,
    async save(path) {
      await pause()
      writeState(path, new Uint8Array(await emulator.save_state()), readOrigin(data.id))
    },
    takeScreenshot: () => takeScreenshot(emulator),
    sendInput: lines.send,
  }
}
