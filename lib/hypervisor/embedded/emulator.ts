import { readFileSync } from 'node:fs'
import type { V86Image, V86Options } from 'v86'
import { openDisk } from './disk-device.ts'
import type { WorkerData } from './protocol.ts'
import { readState, computeSha256, writeState, type Origin } from './saved-state.ts'
import { createSerialBuffer } from './serial-buffer.ts'

export interface Emulator {
  run(): Promise<void>
  /** Pauses the guest and makes its disk durable. */
  pause(): Promise<void>
  /** Pauses and writes the state to `path`. */
  save(path: string): Promise<void>
  sendInput(text: string): void
}

/** A state file that cannot be restored; the message says why. */
export class UnusableStateError extends Error {}

const readImage = (path: string): V86Image => ({ buffer: new Uint8Array(readFileSync(path)).buffer })

/** Creates a PC that does not run yet. Calls `onHalt` when its guest stops for good. Throws UnusableStateError. */
export const createEmulator = async (data: WorkerData, onHalt: () => void): Promise<Emulator> => {
  const { V86 } = await import('v86')
  const serial = createSerialBuffer(data.serialLog, data.serialLogSize)
  const disk = openDisk(data.disk)
  const readOrigin = (): Origin => ({
    id: data.id,
    emulator: data.program.digest,
    memory: data.memory,
    disk: computeSha256(disk.bytes),
  })
  const loadState = (path: string): V86Image => {
    try {
      return { buffer: readState(path, readOrigin()) }
    } catch (error) {
      throw new UnusableStateError(error instanceof Error ? error.message : String(error))
    }
  }
  const options: V86Options = {
    wasm_fn: async imports => (await WebAssembly.instantiate(data.program.module, imports)).exports,
    memory_size: data.memory << 20,
    vga_memory_size: 1 << 20,
    multiboot: readImage(data.kernel),
    // v86 accepts any object with the methods of its own disk images, which its types do not say.
    hda: disk.device as unknown as V86Image,
    disable_keyboard: true,
    disable_mouse: true,
    disable_speaker: true,
    ...(data.initrd !== undefined && { initrd: readImage(data.initrd) }),
    ...(data.cmdline !== undefined && { cmdline: data.cmdline }),
    ...(data.state !== undefined && { initial_state: loadState(data.state) }),
  }
  const emulator = new V86(options)
  emulator.add_listener('serial0-output-byte', byte => serial.add(byte))
  // v86 emits this event when the processor halts with interrupts off; its types do not list it.
  emulator.add_listener('cpu-event-halt' as 'emulator-stopped', () => {
    serial.flush()
    disk.sync()
    onHalt()
  })
  await new Promise<void>(resolve => emulator.add_listener('emulator-loaded', resolve))

  const pause = async (): Promise<void> => {
    await emulator.stop()
    serial.flush()
    disk.sync()
  }
  return {
    run: () => emulator.run(),
    pause,
    async save(path) {
      await pause()
      writeState(path, new Uint8Array(await emulator.save_state()), readOrigin())
    },
    sendInput: text => emulator.serial0_send(text),
  }
}
