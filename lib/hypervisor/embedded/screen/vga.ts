import type { V86 } from 'v86'

/** A part of the screen in a graphics mode: a rectangle of the picture that v86 has drawn. */
export interface Layer {
  readonly screen_x: number
  readonly screen_y: number
  readonly buffer_x: number
  readonly buffer_y: number
  readonly buffer_width: number
  readonly buffer_height: number
}

/**
 * The VGA of a machine, as far as its picture is made of it. v86's types do not have it; the names are those of its source
 * (src/vga.js), and its saved states have the same things.
 */
export interface Vga {
  readonly graphical_mode: boolean
  /** Zero while the guest has switched the picture off. */
  readonly palette_source: number
  readonly clocking_mode: number
  /** Colours as 0xRRGGBB. */
  readonly vga256_palette: Int32Array
  readonly dac_mask: number
  readonly dac_map: Uint8Array
  /** In text mode, the characters and their attributes in turns. */
  readonly vga_memory: Uint8Array
  /** The fonts of the text mode: eight with 256 glyphs of 32 bytes. */
  readonly plane2: Uint8Array
  readonly character_map_select: number
  readonly attribute_mode: number
  readonly max_cols: number
  readonly max_rows: number
  readonly max_scan_line: number
  /** Half the characters of a row in memory. */
  readonly offset_register: number
  /** Of the first character on the screen, in characters. */
  readonly start_address: number
  readonly cursor_address: number
  readonly cursor_scanline_start: number
  readonly cursor_scanline_end: number
  /** True in a graphics mode beyond those of a VGA. */
  readonly svga_enabled: boolean
  readonly screen_width: number
  readonly screen_height: number
  /** What `screen_fill_buffer` has drawn: red, green, blue and alpha of each pixel. */
  readonly image_data: { readonly data: Uint8ClampedArray; readonly width: number } | null
  /** The parts of the screen in a graphics mode of a VGA. */
  readonly layers: readonly Layer[]
  /** Draws what has changed since the last time, in a graphics mode. */
  screen_fill_buffer(): void
}

interface Internals {
  readonly v86: {
    readonly cpu: {
      readonly devices: { readonly vga: Vga }
      readonly io: { port_write8: (port: number, value: number) => void }
    }
  }
}

const getInternals = (emulator: V86): Internals => emulator as unknown as Internals

/** Returns the VGA of a machine whose emulator is loaded. */
export const getVga = (emulator: V86): Vga => getInternals(emulator).v86.cpu.devices.vga

/** Writes to an I/O port of a machine, as its guest does. */
export const writePort = (emulator: V86, port: number, value: number): void =>
  getInternals(emulator).v86.cpu.io.port_write8(port, value)
