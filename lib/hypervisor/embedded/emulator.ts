import { readFileSync } from 'node:fs'
import type { V86Image, V86Options } from 'v86'
import { openDisk } from './disk-device.ts'
import type { WorkerData } from './protocol.ts'
import { readState, sha256, writeState, type Origin } from './saved-state.ts'
import { openSerialLog } from './serial-log.ts'
import { wasmPath } from './wasm.ts'

export interface Emulator {
  run(): Promise<void>
  /** Also makes the disk durable. */
  pause(): Promise<void>
  /** Pauses and writes the state to `path`. */
  save(path: string): Promise<void>
  type(text: string): void
}

/** A state file that cannot be gone on from; the message says why. */
export class UnusableState extends Error {}

const image = (path: string): V86Image => ({ buffer: new Uint8Array(readFileSync(path)).buffer })

/** Sets up a PC that does not run yet. `halted` is called when its guest stops for good. Throws UnusableState. */
export const createEmulator = async (data: WorkerData, halted: () => void): Promise<Emulator> => {
  const { V86 } = await import('v86')
  const program = new Uint8Array(readFileSync(wasmPath()))
  const serial = openSerialLog(data.serialLog)
  const disk = openDisk(data.disk)
  const origin = (): Origin => ({
    id: data.id,
    emulator: sha256(program),
    memory: data.memory,
    disk: sha256(disk.bytes),
  })
  const restored = (path: string): V86Image => {
    try {
      return { buffer: readState(path, origin()) }
    } catch (error) {
      throw new UnusableState(error instanceof Error ? error.message : String(error))
    }
  }
  const options: V86Options = {
    wasm_fn: async imports => (await WebAssembly.instantiate(program, imports)).instance.exports,
    memory_size: data.memory << 20,
    vga_memory_size: 1 << 20,
    multiboot: image(data.kernel),
    hda: disk.device as unknown as V86Image,
    disable_keyboard: true,
    disable_mouse: true,
    disable_speaker: true,
    ...(data.initrd !== undefined && { initrd: image(data.initrd) }),
    ...(data.cmdline !== undefined && { cmdline: data.cmdline }),
    ...(data.state !== undefined && { initial_state: restored(data.state) }),
  }
  const emulator = new V86(options)
  emulator.add_listener('serial0-output-byte', byte => serial.add(byte))
  // Sent when the processor halts with interrupts off; in the emulator, not in its types.
  emulator.add_listener('cpu-event-halt' as 'emulator-stopped', () => {
    serial.flush()
    disk.sync()
    halted()
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
      writeState(path, new Uint8Array(await emulator.save_state()), origin())
    },
    type: text => emulator.serial0_send(text),
  }
}
